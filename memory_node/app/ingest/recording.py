"""What a recording gives, whatever its format: RGB-D images with their camera and its pose, and what was skipped."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.step import DemonstratedStep
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.perception.detection import Detection, Detection3D
from memory_node.scene_graph.free_space import OccupancyMap

_NAMED_OF_EACH = 20


class Skipped(Counter[str]):
    """Counts by reason; `named`: of each reason what the first ones were."""

    def __init__(self) -> None:
        super().__init__()
        self.named: dict[str, list[str]] = {}

    def note(self, error: InputSkippedError, name: str) -> None:
        """Count an input that cannot be used; name: of the image or message."""
        self[error.reason] += 1
        listed = self.named.setdefault(error.reason, [])
        if len(listed) < _NAMED_OF_EACH:
            listed.append(error.detail if name in error.detail else f"{name}: {error.detail}")

    def told(self) -> str:
        """Return the counts in words, with the first name of each reason; empty: nothing was skipped."""
        parts = []
        for reason, count in sorted(self.items()):
            first = next(iter(self.named.get(reason, ())), "")
            parts.append(f"{count} {reason}" + (f" ({first})" if first else ""))
        return ", ".join(parts)


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


class Recording(ABC):
    """A source of images, which may be read several times.

    skipped: what could not be used, so far. map_T_world: of a world that is not level; None: poses are in the map.
    """

    def __init__(self) -> None:
        self.skipped = Skipped()
        self.map_T_world: Pose | None = None

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of images, as far as it is known beforehand."""

    @abstractmethod
    def _images(self) -> Iterator[RgbdImage]:
        """Yield the images in the order of time, with their poses in the recording's own world."""

    def images(self) -> Iterator[RgbdImage]:
        """Yield the images in the order of time, with their poses in the map."""
        for image in self._images():
            if image.map_T_camera is not None and self.map_T_world is not None:
                image = replace(image, map_T_camera=self.map_T_world @ image.map_T_camera)
            yield image

    def rest(self) -> tuple[Event, ...]:
        """Return what came after the last image."""
        return ()

    def grid(self) -> OccupancyMap | None:
        """Return the recording's last map, if it has one."""
        return None


# A recording may pause for longer; nobody wants to wait for that.
_LONGEST_WAIT_S = 5.0


def paced(images: Iterator[RgbdImage], rate: float | None) -> Iterator[RgbdImage]:
    """Yield images when their time has come, `rate` times as fast as they were taken; None: at once.

    Raises:
        InvalidValueError: a rate that is not positive.
    """
    if rate is not None and not rate > 0.0:
        raise InvalidValueError(f"--rate: expected a positive number, got {rate:g}")
    last_ns, due_s = 0, time.monotonic()
    for image in images:
        if rate is not None:
            if last_ns:
                due_s += min(_LONGEST_WAIT_S, max(0.0, (image.stamp_ns - last_ns) * 1e-9 / rate))
            time.sleep(max(0.0, due_s - time.monotonic()))
            last_ns = image.stamp_ns
        yield image
