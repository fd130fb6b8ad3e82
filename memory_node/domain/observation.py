"""What perception hands to the scene graph: one observed object, and one frame with its depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Intrinsics, OrientedBox, Pose, finite_array
from memory_node.domain.states import StateBelief


@dataclass(frozen=True, eq=False)
class ObjectObservation:
    """One object seen in one frame.

    class_scores: class name -> score in [0, 1], best guess highest; empty when class-agnostic. Classes of score 0 are
    left out.
    box: in the map frame. covariance: (3, 3) of the box centre in m^2. embedding: unit vector (d,) or None.
    crop: returns the object's pixels, JPEG coded, or nothing; called where the picture is kept. truncated: cut by the
    image border or occluded. track: name of the thing that is followed from view to view, "" where nobody does,
    RUN/NUMBER; then the box is that of all `views`. name: what it alone is called, as of a person whom the detector
    knows; "" where it has none. at_pixels: first and last column, first and last row in the frame's image; None where
    there is no image. description: what it looks like in words, as a seeing model or a label has it ("a white vase
    with a narrow neck"), "" where nobody says.
    """

    class_scores: dict[str, float]
    box: OrientedBox
    covariance: FloatArray
    pixels: int = 0
    truncated: bool = False
    embedding: NDArray[np.float32] | None = None
    crop: Callable[[], bytes] = bytes
    states: tuple[StateBelief, ...] = ()
    source: str = "camera"
    track: str = ""
    views: int = 1
    name: str = ""
    at_pixels: tuple[int, int, int, int] | None = None
    description: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", finite_array(self.covariance, (3, 3), "ObjectObservation.covariance"))
        for name, score in self.class_scores.items():
            if not 0.0 <= score <= 1.0:
                raise InvalidValueError(f"ObjectObservation: score of {name!r}: expected 0 to 1, got {score}")
        if not all(self.class_scores.values()):
            likely = {name: score for name, score in self.class_scores.items() if score > 0.0}
            object.__setattr__(self, "class_scores", likely)

    @cached_property
    def best_class(self) -> str:
        """The class with the highest score, or "object" when nothing named it."""
        return max(self.class_scores, key=lambda name: self.class_scores[name]) if self.class_scores else "object"


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment of the camera: what was seen, from where, and the depth that says what was not there.

    map_T_camera: the optical frame (z forward, x right, y down). depth_m: (h, w) float32, NaN or 0 = no return;
    None when only 3D detections came. complete: the detector saw the whole image, so absence counts. ended_tracks:
    tracks that turned out to be no things, with the one that each is a part of, or "". color: RGB (h, w, 3), None where
    no image came.
    """

    stamp_ns: int
    map_T_camera: Pose
    intrinsics: Intrinsics | None
    observations: tuple[ObjectObservation, ...]
    depth_m: NDArray[np.float32] | None = None
    complete: bool = True
    keyframe: str = field(default="")
    ended_tracks: tuple[tuple[str, str], ...] = ()
    color: NDArray[np.uint8] | None = None
