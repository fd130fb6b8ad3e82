"""One picture of a simulated camera, whichever simulation took it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.detection import Detection


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
