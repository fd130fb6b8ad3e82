"""Clocks: system, steady, and ROS time, which /clock can take over."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.time import ClockType, Time


class ClockChange(IntEnum):
    """What happens to the source of ROS time in a jump."""

    ROS_TIME_NO_CHANGE = 1
    ROS_TIME_ACTIVATED = 2
    ROS_TIME_DEACTIVATED = 3
    SYSTEM_TIME_NO_CHANGE = 4


class JumpThreshold:
    """The jumps of time that a callback is called for; None means none in that direction."""

    def __init__(
        self, *, min_forward: Duration | None, min_backward: Duration | None, on_clock_change: bool = True
    ) -> None:
        if min_forward is not None and min_forward.nanoseconds <= 0:
            raise ValueError("min_forward must be a positive non-zero duration")
        if min_backward is not None and min_backward.nanoseconds >= 0:
            raise ValueError("min_backward must be a negative non-zero duration")
        if min_forward is None and min_backward is None and not on_clock_change:
            raise ValueError("At least one jump threshold must be enabled")
        self.min_forward, self.min_backward, self.on_clock_change = min_forward, min_backward, on_clock_change

    def is_exceeded(self, jump: TimeJump) -> bool:
        if jump.changes_source:
            return self.on_clock_change
        forward, backward, delta_ns = self.min_forward, self.min_backward, jump.delta.nanoseconds
        return (forward is not None and delta_ns >= forward.nanoseconds) or (
            backward is not None and delta_ns <= backward.nanoseconds
        )


class TimeJump(NamedTuple):
    """A jump of time: the change of the source of time, and the size of the jump."""

    clock_change: ClockChange
    delta: Duration

    @property
    def changes_source(self) -> bool:
        """True if ROS time begins or ends to follow /clock."""
        return self.clock_change in (ClockChange.ROS_TIME_ACTIVATED, ClockChange.ROS_TIME_DEACTIVATED)


class JumpHandle:
    """A registered jump callback."""

    def __init__(
        self,
        *,
        clock: Clock,
        threshold: JumpThreshold,
        pre_callback: Callable[[], Any] | None,
        post_callback: Callable[[TimeJump], Any] | None,
    ) -> None:
        if pre_callback is None and post_callback is None:
            raise ValueError("One of pre_callback or post_callback must be callable")
        for name, callback in (("pre_callback", pre_callback), ("post_callback", post_callback)):
            if callback is not None and not callable(callback):
                raise ValueError(f"{name} must be callable if given")
        self._clock: Clock | None = clock
        self.threshold, self.pre_callback, self.post_callback = threshold, pre_callback, post_callback
        clock._jump_handles.append(self)

    def unregister(self) -> None:
        if self._clock is not None:
            self._clock._jump_handles.remove(self)
            self._clock = None


class Clock:
    """Reads system or steady time; `Clock(clock_type=ClockType.ROS_TIME)` is a ROSClock."""

    _runs_by_itself = True

    def __new__(cls, *, clock_type: ClockType = ClockType.SYSTEM_TIME) -> Clock:
        """A Clock, or a ROSClock for ROS time. Raises TypeError."""
        if not isinstance(clock_type, ClockType):
            raise TypeError("Clock type must be a ClockType enum")
        return super().__new__(ROSClock if clock_type is ClockType.ROS_TIME else cls)

    def __init__(self, *, clock_type: ClockType = ClockType.SYSTEM_TIME) -> None:
        self._clock_type = clock_type
        self._jump_handles: list[JumpHandle] = []

    @property
    def clock_type(self) -> ClockType:
        return self._clock_type

    def __repr__(self) -> str:
        return f"Clock(clock_type={self.clock_type.name})"

    def _now_ns(self) -> int:
        return time.monotonic_ns() if self._clock_type is ClockType.STEADY_TIME else time.time_ns()

    def now(self) -> Time:
        return Time(nanoseconds=self._now_ns(), clock_type=self.clock_type)

    def create_jump_callback(
        self,
        threshold: JumpThreshold,
        *,
        pre_callback: Callable[[], Any] | None = None,
        post_callback: Callable[[TimeJump], Any] | None = None,
    ) -> JumpHandle:
        """Have callbacks called before and after jumps beyond `threshold`, until the handle is unregistered."""
        return JumpHandle(clock=self, threshold=threshold, pre_callback=pre_callback, post_callback=post_callback)


class ROSClock(Clock):
    """System time, unless /clock has taken over (use_sim_time)."""

    def __new__(cls) -> ROSClock:  # type: ignore[misc]  # as in rclpy it takes no clock type
        """A clock in ROS time."""
        return super().__new__(cls, clock_type=ClockType.ROS_TIME)  # type: ignore[return-value]

    def __init__(self, *, clock_type: ClockType = ClockType.ROS_TIME) -> None:
        super().__init__(clock_type=ClockType.ROS_TIME)
        self._override_ns: int | None = None
        self._last_override_ns = 0

    @property
    def ros_time_is_active(self) -> bool:
        return self._override_ns is not None

    @property
    def _runs_by_itself(self) -> bool:  # type: ignore[override]
        return self._override_ns is None

    def _now_ns(self) -> int:
        return time.time_ns() if self._override_ns is None else self._override_ns

    def _set_ros_time_is_active(self, enabled: bool) -> None:
        if enabled != self.ros_time_is_active:
            change = ClockChange.ROS_TIME_ACTIVATED if enabled else ClockChange.ROS_TIME_DEACTIVATED
            self._jump(change, self._last_override_ns if enabled else None)

    def set_ros_time_override(self, time: Time) -> None:
        """Set the time that /clock tells. Raises TypeError if it is no Time."""
        if not isinstance(time, Time):
            raise TypeError(f"Time must be specified as rclpy.time.Time. Received type: {type(time)}")
        self._last_override_ns = time.nanoseconds
        if self.ros_time_is_active:
            self._jump(ClockChange.ROS_TIME_NO_CHANGE, time.nanoseconds)

    def _jump(self, change: ClockChange, override_ns: int | None) -> None:
        delta_ns = (time.time_ns() if override_ns is None else override_ns) - self._now_ns()
        jump = TimeJump(change, Duration(nanoseconds=delta_ns))
        handles = [handle for handle in self._jump_handles if handle.threshold.is_exceeded(jump)]
        for handle in handles:
            if handle.pre_callback is not None:
                handle.pre_callback()
        self._override_ns = override_ns
        for handle in handles:
            if handle.post_callback is not None:
                handle.post_callback(jump)
