"""What a recording gives, whatever its format: RGB-D images with their camera and its pose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.scene_graph.free_space import OccupancyMap


@dataclass(frozen=True, eq=False)
class RgbdImage:
    """One moment. color: (h, w, 3) RGB uint8; depth_m: (h, w) float32, 0 or NaN no return.

    map_T_camera: None where the recording has no pose at all. scene: images with the same name show the same place.
    before: maps (with their stamps) and corrections of SLAM that came since the image before, in their order.
    """

    name: str
    scene: str
    stamp_ns: int
    color: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    intrinsics: Intrinsics
    map_T_camera: Pose | None
    before: tuple[tuple[int, OccupancyMap] | OdomJump, ...] = ()


class Recording(Protocol):
    """A source of images; `skipped` counts what could not be used, by reason, while it is read."""

    skipped: Counter[str]

    def __len__(self) -> int:
        """Return the number of images, as far as it is known beforehand."""

    def images(self) -> Iterator[RgbdImage]:
        """Yield the images in the order of time."""

    def rest(self) -> tuple[tuple[int, OccupancyMap] | OdomJump, ...]:
        """Return what came after the last image."""

    def grid(self) -> OccupancyMap | None:
        """Return the recording's last map, if it has one."""
