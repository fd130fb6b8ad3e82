"""Notices that a robot is blind: no frame is used or comes any more, or frames cannot be meant as they are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Pose
from memory_node.perception.config import PerceptionConfig


class FrameWatch:
    """Compares when frames came with when one was used. Thread-safe.

    Args:
        limit_s: so long may nothing be used, or come.
        clock: seconds.
    """

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._came_s: float | None = None
        # The first frame that came after one was used last, or at all.
        self._unused_since_s: float | None = None

    def came(self) -> None:
        """Note that a frame has come."""
        with self._lock:
            now_s = self._clock()
            paused = self._came_s is not None and now_s - self._came_s > self._limit_s
            self._came_s = now_s
            if self._unused_since_s is None or paused:
                self._unused_since_s = now_s

    def used(self) -> None:
        """Note that a frame was used."""
        with self._lock:
            self._unused_since_s = None

    def unused_s(self) -> float:
        """Return for how many seconds frames have come of which none was used; 0 within the limit."""
        with self._lock:
            if self._came_s is None or self._unused_since_s is None:
                return 0.0
            waited_s = self._came_s - self._unused_since_s
            return waited_s if waited_s > self._limit_s else 0.0

    def silent_s(self) -> float:
        """Return for how many seconds none has come since the last one; 0 within the limit, or when none ever came."""
        with self._lock:
            silent_s = 0.0 if self._came_s is None else self._clock() - self._came_s
        return silent_s if silent_s > self._limit_s else 0.0


# So many frames in a row have to look wrong (a robot may look at the ceiling, or stand before a wall, for a moment).
_FRAMES = 10
# A camera whose axis is within about 18 degrees of straight up (cosine).
_UP = 0.95
# Medians beyond this many times the depth that perception uses; a robot may stand in a hall.
_FAR = 1.5
# A sample of the pixels is enough to judge a scale by.
_STEP = 16


class ContentWatch:
    """Judges frames. Thread-safe.

    Args:
        config: within which distances depth is used.
    """

    def __init__(self, config: PerceptionConfig) -> None:
        self._near_m, self._far_m = config.min_depth_m, config.max_depth_m
        self._lock = threading.Lock()
        self._wrong: dict[str, int] = {}
        self._texts: dict[str, str] = {}

    def saw_camera(self, frame_id: str, map_T_camera: Pose) -> None:
        """Judge where a camera looks: z is its axis in an optical frame (REP 103), and up in the frame of a body."""
        up = float(map_T_camera.axes[2, 2])
        text = (
            f"the camera seems to look straight up: {frame_id} is no optical frame (REP 103: z forward, x right, y "
            "down). Publish images with the frame of the optics, usually named ..._optical_frame"
        )
        self._note("optical_frame", up > _UP, text)

    def saw_depth(self, depth_m: NDArray[np.float32]) -> None:
        """Judge the scale of a depth image (h, w) in metres."""
        sample = depth_m[::_STEP, ::_STEP]
        valid = sample[sample > 0.0]
        if valid.size == 0:
            return
        median_m = float(np.median(valid))
        text = (
            f"the scale of depth cannot be right: its median is {median_m:.4g} m, and perception uses {self._near_m:g} "
            f"to {self._far_m:g} m (perception.max_depth_m). 32FC1 is in metres, 16UC1 in millimetres (REP 118)"
        )
        self._note("depth_scale", not self._near_m <= median_m <= _FAR * self._far_m, text)

    def saw_classes(self, names: Iterable[str]) -> None:
        """Judge the classes of an image's detections."""
        listed = sorted(set(names))
        if listed:
            text = (
                f"detections have numbers for classes ({', '.join(listed[:3])}), and memory takes them for names: let "
                "the detector put names into class_id"
            )
            self._note("class_ids", all(name.strip().isdigit() for name in listed), text)

    def problems(self) -> tuple[str, ...]:
        """Return in words what is wrong now."""
        with self._lock:
            return tuple(self._texts[what] for what, count in self._wrong.items() if count >= _FRAMES)

    def _note(self, what: str, is_wrong: bool, text: str) -> None:
        with self._lock:
            self._wrong[what] = self._wrong.get(what, 0) + 1 if is_wrong else 0
            self._texts[what] = text
