"""The base of what an executor runs: entities with a callback."""

from __future__ import annotations

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


class Destroyable(OwnHandle):
    """Can be freed once; then its handle is invalid."""

    _destroyed = False

    @property
    def handle(self) -> Any:
        """The entity itself; there are no C handles. Raises InvalidHandle once destroyed."""
        if self._destroyed:
            raise InvalidHandle("cannot use Destroyable because destruction was requested")
        return self

    def destroy(self) -> None:
        """Free it; calling again has no effect."""
        if not self._destroyed:
            self._destroyed = True
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
