"""A folder of NAME_color.png, NAME_depth.png (16 bit, mm) and intrinsics.json; each NAME is a scene of its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from memory_node.app.ingest.recording import RgbdImage
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics
from memory_node.scene_graph.free_space import OccupancyMap

_COLOR, _DEPTH = "_color.png", "_depth.png"


class FrameFolder:
    """Reads the folder.

    Raises:
        InvalidValueError: it has no frames or no readable intrinsics.json.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = sorted(path.name.removesuffix(_DEPTH) for path in folder.glob(f"*{_DEPTH}"))
        if not self._names:
            raise InvalidValueError(f"{folder}: expected NAME{_COLOR} and NAME{_DEPTH} files, found none")
        try:
            self._cameras: dict[str, Any] = json.loads((folder / "intrinsics.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidValueError(f"{folder}: no readable intrinsics.json: {error}") from error
        self.skipped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._names)

    def images(self) -> Iterator[RgbdImage]:
        """Yield the frames by name, a second apart, as they carry no stamps."""
        for index, name in enumerate(self._names):
            color = cv2.imread(str(self._folder / (name + _COLOR)), cv2.IMREAD_COLOR)
            depth = cv2.imread(str(self._folder / (name + _DEPTH)), cv2.IMREAD_UNCHANGED)
            if color is None or depth is None or depth.ndim != 2 or color.shape[:2] != depth.shape:
                self.skipped["unreadable_frame"] += 1
                continue
            # One camera for all frames, or one by name.
            camera = self._cameras.get(name, self._cameras)
            try:
                values = {key: float(camera[key]) for key in ("fx", "fy", "cx", "cy")}
            except (KeyError, TypeError, ValueError):
                self.skipped["no_intrinsics"] += 1
                continue
            intrinsics = Intrinsics(**values, width=depth.shape[1], height=depth.shape[0])
            depth_m = depth.astype(np.float32) * np.float32(1e-3)
            rgb = np.ascontiguousarray(color[:, :, ::-1], dtype=np.uint8)
            yield RgbdImage(name, name, (index + 1) * 1_000_000_000, rgb, depth_m, intrinsics, None)

    def rest(self) -> tuple[()]:
        """Return nothing: a folder of frames holds nothing else."""
        return ()

    def grid(self) -> OccupancyMap | None:
        """Return None: a folder of frames has no map."""
        return None
