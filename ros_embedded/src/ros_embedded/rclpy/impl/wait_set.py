"""The wait set of an executor: conditions of readers, statuses of endpoints, guard conditions."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterable

from ros_embedded.rclpy.impl import cyclone

_AT_ONCE = 64


class Guard:
    """A condition that any thread triggers."""

    def __init__(self, participant: int) -> None:
        self.condition = cyclone.check(cyclone.create_guardcondition(participant), "guard condition")

    def trigger(self) -> None:
        """Wake the waiting thread; no effect once closed."""
        cyclone.set_guardcondition(self.condition, True)

    def reset(self) -> None:
        cyclone.set_guardcondition(self.condition, False)

    def close(self) -> None:
        cyclone.delete(self.condition)


class WaitSet:
    """A set of DDS conditions that is kept between waits, so that a wait costs nothing per idle entity."""

    def __init__(self, participant: int) -> None:
        self._entity = cyclone.check(cyclone.create_waitset(participant), "wait set")
        self._attached: set[int] = set()
        self._triggered = (ct.c_ssize_t * _AT_ONCE)()

    def attach_exactly(self, conditions: Iterable[int | None]) -> None:
        wanted = set(conditions)
        for gone in self._attached.difference(wanted):
            self.detach(gone)
        for condition in wanted.difference(self._attached):
            self.attach(condition)

    def attach(self, condition: int | None) -> None:
        """Add a condition; None and conditions that no longer exist are ignored."""
        if condition is None or condition in self._attached:
            return
        if cyclone.waitset_attach(self._entity, condition, condition) == 0:
            self._attached.add(condition)

    def detach(self, condition: int | None) -> None:
        """Remove one."""
        if condition is not None and condition in self._attached:
            self._attached.discard(condition)
            cyclone.waitset_detach(self._entity, condition)

    def wait(self, timeout_ns: int) -> list[int]:
        """Sleep until a condition triggers or `timeout_ns` has passed; return the triggered ones."""
        count = cyclone.waitset_wait(self._entity, self._triggered, _AT_ONCE, min(timeout_ns, cyclone.INFINITE))
        return list(self._triggered[: min(count, _AT_ONCE)]) if count > 0 else []

    def close(self) -> None:
        cyclone.delete(self._entity)
