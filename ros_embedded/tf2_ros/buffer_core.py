"""The tree of frames and the answers to where one frame is in another (tf2's BufferCore; served as `tf2_py`)."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.logging import get_logger
from ros_embedded.tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)
from ros_embedded.tf2_ros.rigid_transform import IDENTITY, RigidTransform
from ros_embedded.tf2_ros.transform_cache import StampedTransform, StaticCache, TimeCache

__all__ = [
    "BufferCore",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "TimeoutException",
    "TransformException",
]

TransformStamped = get_message("geometry_msgs/msg/TransformStamped")
DEFAULT_CACHE_NS = 10_000_000_000
_NORM_TOLERANCE = 10e-3
_UNKNOWN_FRAME = "frame does not exist"


class BufferCore:
    """Keeps transforms for cache_time (10 s by default) and composes them; safe between threads."""

    def __init__(self, cache_time: Any = None) -> None:
        self._cache_ns = DEFAULT_CACHE_NS if cache_time is None else nanoseconds(cache_time)
        self._caches: dict[str, TimeCache | StaticCache] = {}
        self._authorities: dict[str, str] = {}
        self._names: dict[str, None] = {}  # an ordered set of all frames, roots too
        self._lock = threading.RLock()

    def set_transform(self, transform: Any, authority: str) -> None:
        """Take in a TransformStamped; one that is not valid is logged and ignored."""
        self._insert(transform, authority, is_static=False)

    def set_transform_static(self, transform: Any, authority: str) -> None:
        self._insert(transform, authority, is_static=True)

    def lookup_transform_core(self, target_frame: str, source_frame: str, time: Any) -> Any:
        """The TransformStamped that takes coordinates from the source frame to the target frame.

        Raises:
            LookupException, ConnectivityException, ExtrapolationException, InvalidArgumentException

        """
        with self._lock:
            found, stamp_ns = self._lookup(target_frame, source_frame, nanoseconds(time), "lookupTransform")
        return _as_message(found, stamp_ns, target_frame, source_frame)

    def lookup_transform_full_core(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any, fixed_frame: str
    ) -> Any:
        """As lookup_transform_core between two times, by a frame that is taken as fixed between them."""
        with self._lock:
            for argument, frame in (("target", target_frame), ("source", source_frame), ("fixed", fixed_frame)):
                self._check_frame(f"lookupTransform argument {argument}_frame", frame)
            fixed_T_source, _ = self._lookup(fixed_frame, source_frame, nanoseconds(source_time), "lookupTransform")
            target_T_fixed, stamp_ns = self._lookup(
                target_frame, fixed_frame, nanoseconds(target_time), "lookupTransform"
            )
        return _as_message(target_T_fixed @ fixed_T_source, stamp_ns, target_frame, source_frame)

    def can_transform_core(self, target_frame: str, source_frame: str, time: Any) -> tuple[bool, str]:
        if target_frame == source_frame:
            return True, ""
        with self._lock:
            problem = self._unusable(target_frame=target_frame, source_frame=source_frame)
            return (False, problem) if problem else self._can(target_frame, source_frame, time)

    def can_transform_full_core(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any, fixed_frame: str
    ) -> tuple[bool, str]:
        """Whether lookup_transform_full_core would answer, and if not, why."""
        with self._lock:
            problem = self._unusable(target_frame=target_frame, source_frame=source_frame, fixed_frame=fixed_frame)
            possible, problem = (False, problem) if problem else self._can(target_frame, fixed_frame, target_time)
            return self._can(fixed_frame, source_frame, source_time) if possible else (False, problem)

    def get_latest_common_time(self, target_frame: str, source_frame: str) -> Any:
        """The newest rclpy Time at which the two frames are connected. Raises TransformException."""
        from ros_embedded.rclpy.time import Time

        with self._lock:
            return Time(nanoseconds=self._latest_common_ns(target_frame, source_frame))

    def clear(self) -> None:
        """Forget all transforms that are not static; the frames' names stay known."""
        with self._lock:
            self._caches = {name: cache for name, cache in self._caches.items() if isinstance(cache, StaticCache)}

    def all_frames_as_string(self) -> str:
        with self._lock:
            return "".join(
                f"Frame {name} exists with parent {cache.latest().parent}.\n" for name, cache in self._caches.items()
            )

    def all_frames_as_yaml(self) -> str:
        """The tree as the tf2_frames service gives it; tf2_tools draws from this."""
        with self._lock:
            return "".join(self._frame_as_yaml(name, cache) for name, cache in self._caches.items()) or "[]"

    def _frame_as_yaml(self, name: str, cache: TimeCache | StaticCache) -> str:
        newest, oldest = cache.latest().stamp_ns / 1e9, cache.oldest_stamp_ns() / 1e9
        rate = len(cache) / max(newest - oldest, 0.0001)
        return (
            f"{name}: \n"
            f"  parent: '{cache.latest().parent}'\n"
            f"  broadcaster: '{self._authorities[name]}'\n"
            f"  rate: {rate:.3f}\n"
            f"  most_recent_transform: {newest:.6f}\n"
            f"  oldest_transform: {oldest:.6f}\n"
            f"  buffer_length: {newest - oldest:.3f}\n"
        )

    def _frameExists(self, frame_id: str) -> bool:  # noqa: N802 - tf2_py's name
        return frame_id in self._names

    def _getFrameStrings(self) -> list[str]:  # noqa: N802 - tf2_py's name
        return list(self._names)

    def _insert(self, message: Any, authority: str, is_static: bool) -> None:
        child, parent = message.child_frame_id.removeprefix("/"), message.header.frame_id.removeprefix("/")
        shift, turn = message.transform.translation, message.transform.rotation
        pose = RigidTransform(np.array([shift.x, shift.y, shift.z]), np.array([turn.w, turn.x, turn.y, turn.z]))
        problem = _problem_of(child, parent, pose)
        if problem is None:
            with self._lock:
                cache = self._caches.get(child)
                if not isinstance(cache, StaticCache if is_static else TimeCache):
                    cache = self._caches[child] = StaticCache() if is_static else TimeCache(self._cache_ns)
                self._names |= {parent: None, child: None}
                self._authorities[child] = authority
                stamp_ns = nanoseconds(message.header.stamp)
                if not cache.insert(StampedTransform(stamp_ns, parent, pose)):
                    get_logger("tf2").warn(
                        f"TF_OLD_DATA ignoring data from the past for frame {child} at time {stamp_ns / 1e9:.6f} "
                        f"according to authority {authority}"
                    )
        else:
            get_logger("tf2").error(f'{problem}: from "{parent}" to "{child}", authority "{authority}"')

    def _can(self, target_frame: str, source_frame: str, time: Any) -> tuple[bool, str]:
        try:
            self._lookup(target_frame, source_frame, nanoseconds(time), "canTransform")
        except TransformException as error:
            return False, str(error)
        return True, ""

    def _unusable(self, **frames: str) -> str:
        """What is wrong with the first frame that has a fault, by canTransform's argument; empty if none has."""
        for argument, frame in frames.items():
            if fault := self._fault(frame):
                return f'Invalid frame ID "{frame}" passed to canTransform argument {argument} - {fault}'
        return ""

    def _lookup(self, target: str, source: str, stamp_ns: int, function: str) -> tuple[RigidTransform, int]:
        """`target_T_source` and its time."""
        if target == source:
            cache = self._caches.get(target)
            return IDENTITY, cache.latest().stamp_ns if cache is not None and stamp_ns == 0 else stamp_ns
        self._check_frame(f"{function} argument target_frame", target)
        self._check_frame(f"{function} argument source_frame", source)
        stamp_ns = stamp_ns or self._latest_common_ns(target, source)
        above_source, problem = self._walk_up(source, stamp_ns)
        frame, frame_T_target = target, IDENTITY
        while frame not in above_source:
            cache = self._caches.get(frame)
            try:
                if cache is None:
                    raise problem or _not_connected(target, source)
                step = cache.at(stamp_ns)
            except ExtrapolationException as error:
                where = f"when looking up transform from frame [{source}] to frame [{target}]"
                raise ExtrapolationException(f"{error}, {where}") from None
            frame, frame_T_target = step.parent, step.parent_T_child @ frame_T_target
        if frame == target:
            return above_source[frame], stamp_ns
        return frame_T_target.inverse() @ above_source[frame], stamp_ns

    def _walk_up(self, source: str, stamp_ns: int) -> tuple[dict[str, RigidTransform], ExtrapolationException | None]:
        """`frame_T_source` of all frames above source, and what ended the walk if not the root."""
        above = {source: IDENTITY}
        frame = source
        while (cache := self._caches.get(frame)) is not None:
            try:
                step = cache.at(stamp_ns)
            except ExtrapolationException as error:
                return above, error
            if step.parent in above:
                raise LookupException(
                    f"The tf tree is invalid because it contains a loop.\n{self.all_frames_as_string()}"
                )
            above[step.parent] = step.parent_T_child @ above[frame]
            frame = step.parent
        return above, None

    def _latest_common_ns(self, target: str, source: str) -> int:
        """The least of the newest times of the links between two frames; 0 if all are static."""
        if target == source and (cache := self._caches.get(target)) is not None:
            return cache.latest().stamp_ns
        above_source = self._newest_above(source)
        above_target = self._newest_above(target)
        shared = next((frame for frame in above_target if frame in above_source), None)
        if shared is None:
            raise _not_connected(target, source)
        least = min(above_source[shared], above_target[shared])
        return 0 if least == float("inf") else int(least)

    def _newest_above(self, frame: str) -> dict[str, float]:
        """For each frame above a frame, the least of the newest times of the links up to it."""
        above = {frame: float("inf")}
        while (cache := self._caches.get(frame)) is not None:
            newest = cache.latest()
            if newest.parent in above:
                raise LookupException(
                    f"The tf tree is invalid because it contains a loop.\n{self.all_frames_as_string()}"
                )
            above[newest.parent] = min(above[frame], newest.stamp_ns or float("inf"))
            frame = newest.parent
        return above

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
    if abs(float(pose.rotation_wxyz @ pose.rotation_wxyz) - 1.0) >= _NORM_TOLERANCE:
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
    shift, turn = message.transform.translation, message.transform.rotation
    shift.x, shift.y, shift.z = found.translation_m.tolist()
    turn.w, turn.x, turn.y, turn.z = found.rotation_wxyz.tolist()
    return message
