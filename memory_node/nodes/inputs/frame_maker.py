"""One moment's images become a frame, whether they come from topics or from a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.perception.box_mask import Relief, relief_of
from memory_node.perception.detection import Detection, Detector
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.perception.segment_tracker import FollowedSegments


@dataclass(eq=False)
class FrameMaker:
    """Detects where no detections come along, and perceives. While the detector looks at the colours, a second thread
    works out what making masks from rectangles needs of the depth.

    Args:
        pipeline: perception.
        detector: finds things in images that come without detections.
        keyframe_of: returns the keyframe of a stamp and map_T_camera.
        segments: finds things by geometry, over many views, instead of a detector.
    """

    pipeline: PerceptionPipeline
    detector: Detector | None = None
    keyframe_of: Callable[[int, Pose], str] = lambda stamp_ns, pose: ""
    segments: FollowedSegments | None = None

    def __post_init__(self) -> None:
        self._beside = ThreadPoolExecutor(1, "relief") if self.detector is not None else None
        self._gives_rectangles = True

    def start_anew(self) -> None:
        """Follow no thing from before: the map has moved under them."""
        if self.segments is not None:
            self.segments.start_anew()

    def make(
        self,
        stamp_ns: int,
        map_T_camera: Pose,
        intrinsics: Intrinsics,
        color: NDArray[np.uint8],
        depth_m: NDArray[np.float32],
        labels: NDArray[np.int32] | None = None,
        detections: Sequence[Detection] | None = None,
    ) -> Frame:
        """Return the frame of an RGB image (h, w, 3) with depth (h, w).

        labels: instance image (h, w) that the detections number into; without detections its instances have no class.

        Raises:
            InputSkippedError: images that do not fit together, or without content.
        """
        if not (depth_m > 0.0).any():
            raise InputSkippedError("depth_empty", "no pixel of the depth image has a return")
        ended: tuple[tuple[str, str], ...] = ()
        relief: Callable[[], Relief] | None = None
        if self.segments is not None:
            found = self.segments.of_view(depth_m, intrinsics, map_T_camera)
            labels, detections, ended = found.labels, found.detections, found.ended
        elif self.detector is not None:
            relief = self._relief(depth_m, intrinsics)
            labels, detections = None, self.detector.detect(color, depth_m, intrinsics)
            self._note_kind(detections)
        if labels is not None and detections and not labels.any():
            raise InputSkippedError("masks_empty", f"{len(detections)} detections own no pixel")
        nothing_found = detections is not None and not detections
        frame = self.pipeline.observe(
            stamp_ns,
            map_T_camera,
            intrinsics,
            depth_m,
            detections or (),
            None if nothing_found else labels,
            color,
            complete=self.segments is None,
            keyframe=self.keyframe_of(stamp_ns, map_T_camera),
            relief=relief,
        )
        return replace(frame, ended_tracks=ended) if ended else frame

    def _relief(self, depth_m: NDArray[np.float32], intrinsics: Intrinsics) -> Callable[[], Relief] | None:
        """Begin to work out the relief of a depth image; return what waits for it, None for a detector with masks."""
        if self._beside is None or not self._gives_rectangles:
            return None
        return self._beside.submit(relief_of, depth_m, intrinsics).result

    def _note_kind(self, detections: Sequence[Detection]) -> None:
        """Note whether the detector gives rectangles alone; an image without detections does not tell."""
        if detections:
            self._gives_rectangles = any(found.mask is None for found in detections)
