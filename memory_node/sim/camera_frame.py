"""One picture of a simulated camera, whichever simulation took it, and when the next one is due."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.detection import Detection

# Pictures of one view that are taken at the full rate.
SAME_VIEWS = 10
# Real time between two further ones, at least: however fast simulated time runs, they tell nothing new.
STILL_REAL_S = 1.0


class FrameClock:
    """Counts simulated time between pictures.

    Args:
        period_s: between two pictures.
        still_period_s: between two pictures once SAME_VIEWS have shown one view; a lower one than `period_s` has no
            effect.
        speed: simulated seconds in a real one.
    """

    def __init__(self, period_s: float, still_period_s: float, speed: float = 1.0) -> None:
        self._period_s = period_s
        self._still_period_s = max(still_period_s, STILL_REAL_S * speed)
        self._since_s = period_s
        self._view: Hashable = None
        self._shown = 0

    def pass_time(self, seconds: float) -> None:
        """Let simulated time pass."""
        self._since_s += seconds

    def is_due(self, view: Hashable) -> bool:
        """Return whether a picture is to be taken now, which counts as taken. view: equal for equal pictures."""
        if self._since_s < self._period_s:
            return False
        if view != self._view:
            self._view, self._shown = view, 0
        if self._shown >= SAME_VIEWS and self._since_s < self._still_period_s:
            return False
        self._shown += 1
        self._since_s = 0.0
        return True


@dataclass(frozen=True, eq=False)
class CameraFrame:
    """One picture.

    map_T_camera: the optical frame (z forward, x right, y down), in truth or where the robot believes it. color: (h, w,
    3) uint8 RGB. depth_m: (h, w) float32, NaN = no return. instances: (h, w) uint16, the number that each detection
    names; 0 = nothing detected.
    """

    stamp_ns: int
    map_T_camera: Pose
    intrinsics: Intrinsics
    color: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    instances: NDArray[np.uint16]
    detections: tuple[Detection, ...]
