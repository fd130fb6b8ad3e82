"""Which layout a folder of frames has."""

from __future__ import annotations

from pathlib import Path

from memory_node.app.ingest.folders.layouts import open3d, replica, scannet, seven_scenes
from memory_node.app.ingest.folders.sequence import FolderSequence
from memory_node.app.ingest.folders.single_frames import SingleFrames
from memory_node.app.ingest.folders.tum import tum
from memory_node.app.ingest.recording import Recording
from memory_node.domain.errors import InvalidValueError

_LAYOUTS = (seven_scenes, tum, scannet, replica, open3d)
_KNOWN = "7-Scenes, 3DMatch, TUM RGB-D, ScanNet, Replica, Open3D, or single frames NAME_color.png and NAME_depth.png"


def open_folder(folder: Path, stride: int = 1) -> Recording:
    """Return the recording that a folder holds; stride: take every so many frames.

    Raises:
        InvalidValueError: no known layout, or one of which something is missing.
    """
    for layout in _LAYOUTS:
        files = layout(folder)
        if files is not None:
            return FolderSequence(files, stride)
    if any(folder.glob("*_depth.png")):
        return SingleFrames(folder, stride)
    raise InvalidValueError(
        f"{folder}: expected a rosbag2 (metadata.yaml with .mcap or .db3) or {_KNOWN} (docs/perception.md)"
    )
