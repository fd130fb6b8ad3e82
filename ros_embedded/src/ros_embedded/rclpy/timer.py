"""Periodic callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.clock import Clock, JumpThreshold, TimeJump
from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.utilities import get_default_context


class Timer(ExecutableEntity):
    """Made by Node.create_timer. A late timer skips the periods that it has missed, as rcl's."""

    _PLACE = 1

    def __init__(
        self,
        callback: Callable[[], Any] | None,
        callback_group: CallbackGroup | None,
        timer_period_ns: int,
        clock: Clock,
        *,
        context: Context | None = None,
        autostart: bool = True,
    ) -> None:
        super().__init__(callback_group, None)
        if timer_period_ns < 0:
            raise RCLError("failed to create timer: timer period must be non-negative")
        self.callback = callback
        self._context = get_default_context() if context is None else context
        if not self._context.ok():
            raise RCLError("failed to create timer: the given context is not valid")
        self._clock = clock
        self._period_ns = int(timer_period_ns)
        self._is_canceled = not autostart
        self._last_call_ns = clock._now_ns()
        self._next_call_ns = self._last_call_ns + self._period_ns
        self._wake: Callable[[], None] = lambda: None
        threshold = JumpThreshold(min_forward=Duration(nanoseconds=1), min_backward=Duration(nanoseconds=-1))
        self._jumps = clock.create_jump_callback(threshold, post_callback=self._on_jump)

    def _on_jump(self, jump: TimeJump) -> None:
        now_ns = self._clock._now_ns()
        # ROS time 0 means that no /clock message has come yet; the first one makes a jump of its own
        if now_ns > 0 if jump.changes_source else now_ns < self._last_call_ns:
            self._last_call_ns = now_ns
            self._next_call_ns = now_ns + self._period_ns
        self._wake()

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def timer_period_ns(self) -> int:
        return self._period_ns

    @timer_period_ns.setter
    def timer_period_ns(self, value: int) -> None:
        self._period_ns = int(value)

    def is_ready(self) -> bool:
        return not self._is_canceled and not self._destroyed and self._clock._now_ns() >= self._next_call_ns

    def is_canceled(self) -> bool:
        return self.handle._is_canceled

    def cancel(self) -> None:
        self.handle._is_canceled = True

    def reset(self) -> None:
        now_ns = self.handle._clock._now_ns()
        self._next_call_ns, self._is_canceled = now_ns + self._period_ns, False
        self._wake()

    def time_since_last_call(self) -> int:
        """Nanoseconds."""
        return self._clock._now_ns() - self._last_call_ns

    def time_until_next_call(self) -> int | None:
        """Nanoseconds, negative if overdue; None while cancelled."""
        return None if self._is_canceled else self._next_call_ns - self._clock._now_ns()

    def _sleep_ns(self) -> int | None:
        """How long an executor may sleep until the timer is due; None if only a jump of its clock can make it due."""
        if self._is_canceled or self._destroyed:
            return None
        remaining_ns = self._next_call_ns - self._clock._now_ns()
        if remaining_ns > 0 and not self._clock._runs_by_itself:
            return None
        return max(0, remaining_ns)

    def _take(self) -> Callable[[], Any] | None:
        now_ns = self._clock._now_ns()
        if self._is_canceled or now_ns < self._next_call_ns:
            return None
        self._last_call_ns = now_ns
        self._next_call_ns += self._period_ns
        if self._next_call_ns < now_ns:
            missed = (now_ns - self._next_call_ns) // self._period_ns + 1 if self._period_ns else 0
            self._next_call_ns = self._next_call_ns + missed * self._period_ns if self._period_ns else now_ns
        return self.callback

    def _close(self) -> None:
        self._is_canceled = True
        self._jumps.unregister()
