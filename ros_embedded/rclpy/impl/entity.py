"""What an executor needs of a thing that has a callback."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.exceptions import InvalidHandle


class ExecutableEntity:
    """Its `_condition` wakes the executor, which then takes the work and calls it within the callback group."""

    def __init__(self, callback_group: CallbackGroup | None, condition: int) -> None:
        self.callback_group = callback_group
        self._condition = condition
        self._destroyed = False
        self._on_destroy: Callable[[], None] = lambda: None

    def _take(self) -> Callable[[], Any] | None:
        """The call to make now, or None if the work has gone meanwhile."""
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError

    @property
    def handle(self) -> Any:
        """Itself: entities need no separate C handle here. Raises InvalidHandle once destroyed."""
        if self._destroyed:
            raise InvalidHandle("cannot use Destroyable because destruction was requested")
        return self

    def destroy(self) -> None:
        """Free it; calling again has no effect."""
        if not self._destroyed:
            self._destroyed = True
            self._on_destroy()
            self._close()

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.destroy()
