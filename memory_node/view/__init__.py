"""What memory takes in and believes, frame by frame, for viewers: Rerun's files and MCAP for Foxglove."""

from memory_node.view.view import ShownFrames, View, open_views, serve_view

__all__ = ["ShownFrames", "View", "open_views", "serve_view"]
