"""What a recording gives, whatever its format: RGB-D images with their camera and its pose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.app.ingest.skipped import Skipped
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.step import DemonstratedStep
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.perception.detection import Detection, Detection3D
from memory_node.scene_graph.free_space import OccupancyMap


@dataclass(frozen=True, eq=False)
class Boxes3D:
    """Things that were detected in 3D, in the frame of a sensor, and where that was."""

    stamp_ns: int
    map_T_sensor: Pose
    detections: tuple[Detection3D, ...]


# A map with its stamp, a correction of SLAM, things detected in 3D, or what somebody showed the robot.
Event = tuple[int, OccupancyMap] | OdomJump | Boxes3D | DemonstratedStep


@dataclass(frozen=True, eq=False)
class RgbdImage:
    """One moment. color: (h, w, 3) RGB uint8; depth_m: (h, w) float32, 0 or NaN no return.

    map_T_camera: None where the recording has no pose at all. scene: images with the same name show the same place.
    before: the events that came since the image before, in their order. labels: instance image (h, w) that came along,
    or None. detections: what came along, None: nothing did.
    """

    name: str
    scene: str
    stamp_ns: int
    color: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    intrinsics: Intrinsics
    map_T_camera: Pose | None
    before: tuple[Event, ...] = ()
    labels: NDArray[np.int32] | None = None
    detections: tuple[Detection, ...] | None = None


class Recording(Protocol):
    """A source of images, which may be read several times."""

    @property
    def skipped(self) -> Skipped:
        """What could not be used, so far."""

    def __len__(self) -> int:
        """Return the number of images, as far as it is known beforehand."""

    def images(self) -> Iterator[RgbdImage]:
        """Yield the images in the order of time."""

    def rest(self) -> tuple[Event, ...]:
        """Return what came after the last image."""

    def grid(self) -> OccupancyMap | None:
        """Return the recording's last map, if it has one."""
