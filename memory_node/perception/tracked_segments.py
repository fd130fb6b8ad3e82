"""Segmentation by geometry over many views: what each view shows of the things that several have shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.config import SegmentationConfig, SegmentTrackerConfig
from memory_node.perception.segment_tracker import SegmentTracker, TrackedSegments
from memory_node.perception.segmentation import GeometricSegmenter


class FollowedSegments:
    """Segments each depth image and follows the segments."""

    def __init__(
        self, segmentation: SegmentationConfig | None = None, tracking: SegmentTrackerConfig | None = None
    ) -> None:
        self._segmenter = GeometricSegmenter(segmentation)
        self._tracking = tracking
        self._runs = 0
        self._tracker = self._new_tracker()

    def start_anew(self) -> None:
        """Forget all things; the same ones get other names from now on."""
        self._tracker = self._new_tracker()

    def of_view(self, depth_m: NDArray[np.float32], intrinsics: Intrinsics, map_T_camera: Pose) -> TrackedSegments:
        """Return what a depth image (h, w) in metres shows of things that are known by now."""
        labels = self._segmenter.segment(depth_m, intrinsics)
        return self._tracker.track(labels, depth_m, intrinsics, map_T_camera)

    def _new_tracker(self) -> SegmentTracker:
        self._runs += 1
        return SegmentTracker(self._tracking, f"{self._runs}/")
