"""What memory takes in and believes, frame by frame, for viewers: Rerun's files and MCAP for Foxglove."""

from memory_node.view.shown_frames import ShownFrames
from memory_node.view.view import View, open_views, serve_view

__all__ = ["ShownFrames", "View", "open_views", "serve_view"]
