"""Folders of recorded frames: which layout one has, and its frames."""

from memory_node.app.ingest.folders.known_layouts import open_folder

__all__ = ["open_folder"]
