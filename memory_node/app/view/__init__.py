"""What memory takes in and believes, frame by frame, for viewers: Rerun's files and MCAP for Foxglove."""

from memory_node.app.view.view import View, open_views

__all__ = ["View", "open_views"]
