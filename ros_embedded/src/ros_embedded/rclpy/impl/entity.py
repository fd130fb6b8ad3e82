"""What an executor needs of a thing that has a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.exceptions import InvalidHandle


class OwnHandle:
    """What its `handle` is: `with thing.handle:` is left as it was entered."""

    def __enter__(self) -> None:
        """Nothing to lock: a call after the end raises."""

    def __exit__(self, *_: object) -> None:
        """Nothing to free."""


class Destroyable(OwnHandle):
    """Freed once; then its handle is invalid."""

    _destroyed = False

    @property
    def handle(self) -> Any:
        """Itself: there are no separate C handles here. Raises InvalidHandle once destroyed."""
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
    """Its `_condition`, if any, wakes the executor, which then takes the work and calls it in the callback group."""

    _PLACE: ClassVar[int] = 0  # among what is ready at the same time, the order of rclpy's executors

    def __init__(self, callback_group: CallbackGroup | None, condition: int | None) -> None:
        self.callback_group, self._condition = callback_group, condition

    def _take(self) -> Callable[[], Any] | None:
        """The call to make now, or None if the work has gone meanwhile."""
        raise NotImplementedError
