"""Which layout a folder of frames has; single frames are the last that is tried."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from memory_node.app.ingest.folders.layouts import open3d, replica, scannet, seven_scenes, tum
from memory_node.app.ingest.folders.sequence import FolderSequence
from memory_node.app.ingest.recording import Recording, RgbdImage
from memory_node.app.ingest.skipped import Skipped
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics
from memory_node.perception.coded_image import decode_coded_color, decode_coded_depth
from memory_node.scene_graph.free_space import OccupancyMap

_COLOR, _DEPTH = "_color.png", "_depth.png"


class SingleFrames:
    """Reads the folder.

    Raises:
        InvalidValueError: it has no frames or no readable intrinsics.json.
    """

    def __init__(self, folder: Path, stride: int = 1) -> None:
        self._folder = folder
        self._names = sorted(path.name.removesuffix(_DEPTH) for path in folder.glob(f"*{_DEPTH}"))[::stride]
        if not self._names:
            raise InvalidValueError(f"{folder}: expected NAME{_COLOR} and NAME{_DEPTH} files, found none")
        try:
            self._cameras: dict[str, Any] = json.loads((folder / "intrinsics.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidValueError(f"{folder}: no readable intrinsics.json: {error}") from error
        self.skipped: Skipped = Skipped()

    def __len__(self) -> int:
        return len(self._names)

    def images(self) -> Iterator[RgbdImage]:
        """Yield the frames by name, a second apart, as they carry no stamps."""
        for index, name in enumerate(self._names):
            try:
                yield self._image(index, name)
            except InputSkippedError as error:
                self.skipped.note(error, name)

    def _image(self, index: int, name: str) -> RgbdImage:
        color_file, depth_file = self._folder / (name + _COLOR), self._folder / (name + _DEPTH)
        if not color_file.is_file():
            raise InputSkippedError("unreadable_frame", f"{color_file.name}: no such file")
        color = decode_coded_color(color_file.read_bytes(), color_file.name)
        depth = decode_coded_depth(depth_file.read_bytes(), depth_file.name)
        if color.shape[:2] != depth.shape:
            raise InputSkippedError(
                "image_size",
                f"{color_file.name} is {color.shape[:2]}, {depth_file.name} is {depth.shape} (rows, columns)",
            )
        # One camera for all frames, or one by name.
        camera = self._cameras.get(name, self._cameras)
        try:
            values = {key: float(camera[key]) for key in ("fx", "fy", "cx", "cy")}
        except (KeyError, TypeError, ValueError) as error:
            raise InputSkippedError("no_intrinsics", f"{name}: expected fx, fy, cx, cy in intrinsics.json") from error
        intrinsics = Intrinsics(**values, width=depth.shape[1], height=depth.shape[0])
        depth_m = depth.astype(np.float32) * np.float32(1e-3)
        return RgbdImage(name, name, (index + 1) * 1_000_000_000, color, depth_m, intrinsics, None)

    def rest(self) -> tuple[()]:
        """Return nothing: a folder of frames holds nothing else."""
        return ()

    def grid(self) -> OccupancyMap | None:
        """Return None: a folder of frames has no map."""
        return None


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
