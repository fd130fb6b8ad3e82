"""The base of what an executor runs: entities with a callback."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.exceptions import InvalidHandle


class OwnHandle:
    """Its `handle` is itself; `with entity.handle:` has no effect."""

    def __enter__(self) -> None:
        """No effect: calls after destruction raise by themselves."""

    def __exit__(self, *_: object) -> None:
        """No effect."""


# Reentrant: a signal's handler may destroy things in the middle of any line of the thread that it interrupts.
_lock = threading.RLock()


class Destroyable(OwnHandle):
    """Can be freed once; then its handle is invalid. Calls inside `with entity.handle:` are finished before."""

    _destroyed = False
    _users = 0

    @property
    def handle(self) -> Any:
        """The entity itself; there are no C handles. Raises InvalidHandle once destroyed."""
        if self._destroyed:
            raise InvalidHandle("cannot use Destroyable because destruction was requested")
        return self

    def __enter__(self) -> None:
        """Keep it until the block ends. Raises InvalidHandle once destroyed."""
        with _lock:
            self.handle._users += 1

    def __exit__(self, *_: object) -> None:
        """Free it if it was destroyed meanwhile and nobody else uses it."""
        with _lock:
            self._users -= 1
            is_last = self._destroyed and self._users == 0
        if is_last:
            self._close()

    def destroy(self) -> None:
        """Free it, when its last user has left; calling again has no effect."""
        with _lock:
            is_last = not self._destroyed and self._users == 0
            self._destroyed = True
        if is_last:
            self._close()

    def _close(self) -> None:
        raise NotImplementedError


class ExecutableEntity(Destroyable):
    """Has work for an executor: `_condition`, if any, wakes it, then it calls what `_take` returns."""

    _PLACE: ClassVar[int] = 0  # order among entities that are ready at the same time, as in rclpy's executors

    def __init__(self, callback_group: CallbackGroup | None, condition: int | None) -> None:
        self.callback_group, self._condition = callback_group, condition

    def _take(self) -> Callable[[], Any] | None:
        """Return the call to make, or None if there is no work any more."""
        raise NotImplementedError
