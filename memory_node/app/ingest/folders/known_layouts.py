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
_KNOWN = """expected one of
  single frames: NAME_color.png, NAME_depth.png, intrinsics.json
  7-Scenes, 3DMatch: frame-N.color.png|jpg, frame-N.depth.png, frame-N.pose.txt, camera-intrinsics.txt
  TUM RGB-D: rgb.txt, depth.txt, groundtruth.txt
  ScanNet: color/N.jpg, depth/N.png, pose/N.txt, intrinsic/intrinsic_depth.txt
  Replica: results/frameN.jpg, results/depthN.png, traj.txt
  Open3D: color/, depth/, a trajectory .log"""


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
    raise InvalidValueError(f"{folder}: no folder of frames that is known; {_KNOWN}")
