"""The tree of frames, and transforms between any two of them (tf2's BufferCore; served as `tf2_py`)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.logging import get_logger
from ros_embedded.rclpy.time import Time
from ros_embedded.tf2_ros.rigid_transform import IDENTITY, RigidTransform
from ros_embedded.tf2_ros.transform_cache import StampedTransform, TransformCache
from ros_embedded.tf2_ros.transform_exceptions import (  # noqa: F401 - tf2_py has them all
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)

TransformStamped = get_message("geometry_msgs/msg/TransformStamped")
DEFAULT_CACHE_NS = 10_000_000_000
_UNKNOWN_FRAME = "frame does not exist"


class BufferCore:
    """Keeps transforms for cache_time (10 s by default) and composes them; safe between threads."""

    def __init__(self, cache_time: Any = None) -> None:
        self._cache_ns = DEFAULT_CACHE_NS if cache_time is None else nanoseconds(cache_time)
        self._caches: dict[str, TransformCache] = {}
        self._authorities: dict[str, str] = {}
        self._names: dict[str, None] = {}  # an ordered set of all frames, roots too
        self._lock = threading.RLock()

    def set_transform(self, transform: Any, authority: str) -> None:
        """Add a TransformStamped; an invalid one is logged and ignored."""
        self._insert(transform, authority, is_static=False)

    def set_transform_static(self, transform: Any, authority: str) -> None:
        """Add a TransformStamped that is valid at all times."""
        self._insert(transform, authority, is_static=True)

    def lookup_transform_core(self, target_frame: str, source_frame: str, time: Any) -> Any:
        """The TransformStamped that takes coordinates from the source frame to the target frame.

        Raises LookupException, ConnectivityException, ExtrapolationException or InvalidArgumentException.
        """
        with self._lock:
            found, stamp_ns = self._lookup(target_frame, source_frame, nanoseconds(time), "lookupTransform")
        return _as_message(found, stamp_ns, target_frame, source_frame)

    def can_transform_core(self, target_frame: str, source_frame: str, time: Any) -> tuple[bool, str]:
        """True if lookup_transform_core would answer, and the reason if not."""
        if target_frame == source_frame:
            return True, ""
        with self._lock:
            problem = self._unusable(target_frame=target_frame, source_frame=source_frame)
            return (False, problem) if problem else self._can(target_frame, source_frame, time)

    def get_latest_common_time(self, target_frame: str, source_frame: str) -> Time:
        """The newest time at which the two frames are connected. Raises TransformException."""
        with self._lock:
            for frame in (target_frame, source_frame):
                self._check_frame("get_latest_common_time", frame)
            return Time(nanoseconds=self._latest_common_ns(target_frame, source_frame))

    def clear(self) -> None:
        """Forget all transforms that are not static; the frames' names stay known."""
        with self._lock:
            self._caches = {name: cache for name, cache in self._caches.items() if cache.is_static}

    def all_frames_as_string(self) -> str:
        """One line for each frame that has a parent."""
        with self._lock:
            frames = [(name, cache.latest().parent) for name, cache in self._caches.items()]
        return "".join(f"Frame {name} exists with parent {parent}.\n" for name, parent in frames)

    def all_frames_as_yaml(self) -> str:
        """The tree as the tf2_frames service gives it; tf2_tools draws from this."""
        with self._lock:
            return "".join(self._frame_as_yaml(name, cache) for name, cache in self._caches.items()) or "[]"

    def _frame_as_yaml(self, name: str, cache: TransformCache) -> str:
        newest, oldest = cache.stamps_ns[-1] / 1e9, cache.stamps_ns[0] / 1e9
        rate = len(cache.stamps_ns) / max(newest - oldest, 0.0001)
        return (
            f"{name}: \n"
            f"  parent: '{cache.latest().parent}'\n"
            f"  broadcaster: '{self._authorities[name]}'\n"
            f"  rate: {rate:.3f}\n"
            f"  most_recent_transform: {newest:.6f}\n"
            f"  oldest_transform: {oldest:.6f}\n"
            f"  buffer_length: {newest - oldest:.3f}\n"
        )

    def _insert(self, message: Any, authority: str, is_static: bool) -> None:
        child, parent = message.child_frame_id.removeprefix("/"), message.header.frame_id.removeprefix("/")
        pose = RigidTransform.from_msgs(message.transform.translation, message.transform.rotation)
        problem = _problem_of(child, parent, pose)
        if problem is not None:
            get_logger("tf2").error(f'{problem}: from "{parent}" to "{child}", authority "{authority}"')
            return
        stamp_ns = nanoseconds(message.header.stamp)
        with self._lock:
            cache = self._caches.get(child)
            if cache is None or cache.is_static != is_static:
                cache = self._caches[child] = TransformCache(self._cache_ns, is_static)
            self._names |= {parent: None, child: None}
            self._authorities[child] = authority
            is_kept = cache.insert(StampedTransform(stamp_ns, parent, pose.normalized()))
        if not is_kept:
            get_logger("tf2").warn(
                f"TF_OLD_DATA ignoring data from the past for frame {child} at time {stamp_ns / 1e9:.6f} "
                f"according to authority {authority}"
            )

    def _can(self, target_frame: str, source_frame: str, time: Any) -> tuple[bool, str]:
        try:
            self._lookup(target_frame, source_frame, nanoseconds(time), "canTransform")
        except TransformException as error:
            return False, str(error)
        return True, ""

    def _lookup(self, target: str, source: str, stamp_ns: int, function: str) -> tuple[RigidTransform, int]:
        """`target_T_source` and its time."""
        if target == source:
            cache = self._caches.get(target)
            return IDENTITY, cache.latest().stamp_ns if cache is not None and stamp_ns == 0 else stamp_ns
        self._check_frame(f"{function} argument target_frame", target)
        self._check_frame(f"{function} argument source_frame", source)
        stamp_ns = stamp_ns or self._latest_common_ns(target, source)
        above_source, frame, problem = {source: IDENTITY}, source, None
        try:
            for step in self._steps_up(source, stamp_ns):
                above_source[step.parent] = step.parent_T_child @ above_source[frame]
                frame = step.parent
        except ExtrapolationException as error:  # an error only if the target's frames do not meet these
            problem = error
        frame, frame_T_target = target, IDENTITY
        try:
            steps = self._steps_up(target, stamp_ns)
            while frame not in above_source:
                step_up = next(steps, None)
                if step_up is None:
                    raise problem or _not_connected(target, source)
                frame, frame_T_target = step_up.parent, step_up.parent_T_child @ frame_T_target
        except ExtrapolationException as error:
            where = f"when looking up transform from frame [{source}] to frame [{target}]"
            raise ExtrapolationException(f"{error}, {where}") from None
        if frame == target:
            return above_source[frame], stamp_ns
        return frame_T_target.inverse() @ above_source[frame], stamp_ns

    def _steps_up(self, frame: str, stamp_ns: int | None) -> Iterator[StampedTransform]:
        """The links from a frame to its root, at a time (None: the newest of each). Raises ExtrapolationException."""
        passed = {frame}
        while (cache := self._caches.get(frame)) is not None:
            step = cache.latest() if stamp_ns is None else cache.at(stamp_ns)
            frame = step.parent
            if frame in passed:
                raise LookupException(
                    f"The tf tree is invalid because it contains a loop.\n{self.all_frames_as_string()}"
                )
            passed.add(frame)
            yield step

    def _latest_common_ns(self, target: str, source: str) -> int:
        """The least of the newest times of the links between two frames; 0 if all are static."""
        if target == source and (cache := self._caches.get(target)) is not None:
            return cache.latest().stamp_ns
        above_source, above_target = self._newest_above(source), self._newest_above(target)
        shared = next((frame for frame in above_target if frame in above_source), None)
        if shared is None:
            raise _not_connected(target, source)
        least = min(above_source[shared], above_target[shared])
        return 0 if least == float("inf") else int(least)

    def _newest_above(self, frame: str) -> dict[str, float]:
        """For each frame above a frame, the least of the newest times of the links up to it."""
        above, least = {frame: float("inf")}, float("inf")
        for step in self._steps_up(frame, None):
            least = above[step.parent] = min(least, step.stamp_ns or float("inf"))
        return above

    def _unusable(self, **frames: str) -> str:
        """The error text of the first invalid frame name, in canTransform's words; empty if both are valid."""
        for argument, frame in frames.items():
            if fault := self._fault(frame):
                return f'Invalid frame ID "{frame}" passed to canTransform argument {argument} - {fault}'
        return ""

    def _check_frame(self, argument: str, frame: str) -> None:
        fault = self._fault(frame)
        if fault == _UNKNOWN_FRAME:
            raise LookupException(f'"{frame}" passed to {argument} does not exist. ')
        if fault:
            raise InvalidArgumentException(f'Invalid argument "{frame}" passed to {argument} - {fault}')

    def _fault(self, frame: str) -> str:
        if not frame or frame.startswith("/"):
            return f"in tf2 frame_ids cannot {'start with a ' + repr('/') if frame else 'be empty'}"
        return "" if frame in self._names else _UNKNOWN_FRAME


def nanoseconds(time: Any) -> int:
    """Nanoseconds of an rclpy Time or Duration, or of a message with sec and nanosec. Raises TypeError."""
    if hasattr(time, "nanoseconds"):
        return time.nanoseconds
    if hasattr(time, "sec") and hasattr(time, "nanosec"):
        return time.sec * 1_000_000_000 + time.nanosec
    raise TypeError("time must have sec and nanosec, or nanoseconds.")


def _problem_of(child: str, parent: str, pose: RigidTransform) -> str | None:
    if child == parent:
        return "TF_SELF_TRANSFORM: Ignoring transform of a frame to itself"
    if not child or not parent:
        return f"TF_NO_{'' if child else 'CHILD_'}FRAME_ID: Ignoring transform because a frame is not set"
    if np.isnan(pose.translation_m).any() or np.isnan(pose.rotation_wxyz).any():
        return "TF_NAN_INPUT: Ignoring transform because of a nan value in it"
    if not pose.rotation_wxyz.any():
        return "TF_DENORMALIZED_QUATERNION: Ignoring transform because of an invalid quaternion in it"
    return None


def _not_connected(target: str, source: str) -> ConnectivityException:
    return ConnectivityException(
        f"Could not find a connection between '{target}' and '{source}' because they are not part of the same tree."
        "Tf has two or more unconnected trees."
    )


def _as_message(found: RigidTransform, stamp_ns: int, target_frame: str, source_frame: str) -> Any:
    message = TransformStamped(child_frame_id=source_frame)
    message.header.frame_id = target_frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
    found.normalized().to_msgs(message.transform.translation, message.transform.rotation)
    return message
