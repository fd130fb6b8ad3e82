"""What a detector says about an image, and the protocol that every detector fulfils."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Intrinsics, OrientedBox
from memory_node.domain.states import StateBelief


@dataclass(frozen=True, eq=False)
class Detection:
    """One detected thing in an image.

    class_scores: class name -> score in [0, 1], empty when class-agnostic. box_px: left, top, right, bottom in
    pixels, or None.
    instance: its number in the frame's instance image (0: none). mask: (height, width) bool, or None. track: name of
    the thing that earlier views showed, too, "" where nobody follows things; then box is the thing's of all views, in
    map, and views their number.
    """

    class_scores: dict[str, float]
    box_px: tuple[float, float, float, float] | None = None
    instance: int = 0
    mask: NDArray[np.bool_] | None = None
    embedding: NDArray[np.float32] | None = None
    states: tuple[StateBelief, ...] = ()
    track: str = ""
    box: OrientedBox | None = None
    views: int = 1

    def __post_init__(self) -> None:
        if self.box_px is None and self.mask is None and self.instance <= 0:
            raise InvalidValueError("Detection: expected a box, a mask or an instance number, got none of them")
        if self.box_px is not None and not (self.box_px[2] > self.box_px[0] and self.box_px[3] > self.box_px[1]):
            raise InvalidValueError(f"Detection.box_px: expected left < right and top < bottom, got {self.box_px}")


@dataclass(frozen=True, eq=False)
class Detection3D:
    """One thing detected in 3D, in the frame of the sensor: upright there only if that frame is."""

    class_scores: dict[str, float]
    box: OrientedBox
    covariance: FloatArray | None = None
    embedding: NDArray[np.float32] | None = None
    states: tuple[StateBelief, ...] = ()


class Detector(Protocol):
    """Finds the things in one RGB-D image."""

    def detect(
        self, color: NDArray[np.uint8] | None, depth_m: NDArray[np.float32] | None, intrinsics: Intrinsics | None
    ) -> list[Detection]:
        """Return what is in an RGB image (height, width, 3) with depth (height, width) in metres, either may be
        None."""
