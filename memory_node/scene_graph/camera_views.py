"""Follows the camera: the weight of a view as evidence, and the areas that were in view."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import Pose, wrap_angle
from memory_node.domain.observation import Frame
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.places import Places

_REPEATED_VIEW_WEIGHT = 0.2


class CameraViews:
    """Follows the camera of a robot from frame to frame.

    places: the areas that are marked as looked at.
    """

    def __init__(self, config: SceneGraphConfig, places: Places) -> None:
        self._config = config
        self._places = places
        self._last: Pose | None = None

    def weight(self, map_T_camera: Pose) -> float:
        """Return how much a frame's evidence on existence counts: a camera that stands still repeats its errors."""
        last = self._last
        if last is not None:
            near = float(np.linalg.norm(map_T_camera.position - last.position)) < self._config.view_step_m
            cosine = min(1.0, abs(float(map_T_camera.quaternion @ last.quaternion)))
            if near and abs(wrap_angle(2.0 * float(np.arccos(cosine)))) < self._config.view_step_rad:
                return _REPEATED_VIEW_WEIGHT
        self._last = map_T_camera
        return 1.0

    def note(self, frame: Frame) -> None:
        """Mark the areas that lie in view, up to half the evidence range, as looked at; of a detector that tells no
        image, the one in which it is."""
        ids, positions = self._places.areas_on(self._places.here)
        if not ids:
            return
        if frame.intrinsics is None:
            gaps = np.linalg.norm(positions - frame.map_T_camera.position[:2], axis=1)
            self._places.looked_at([ids[int(np.argmin(gaps))]] if frame.complete else [], frame.stamp_ns)
            return
        axis = frame.map_T_camera.matrix[:2, 2]
        length = float(np.linalg.norm(axis))
        if length < 1e-6:
            return
        reach = 0.5 * self._config.evidence_range_m
        offset = positions - frame.map_T_camera.position[:2]
        ahead = offset @ (axis / length)
        aside = np.abs(offset @ (np.array([-axis[1], axis[0]]) / length))
        half = 0.5 * frame.intrinsics.width / frame.intrinsics.fx
        seen = (ahead > 0.2) & (ahead < reach) & (aside < half * ahead)
        self._places.looked_at([ids[i] for i in np.flatnonzero(seen).tolist()], frame.stamp_ns)
