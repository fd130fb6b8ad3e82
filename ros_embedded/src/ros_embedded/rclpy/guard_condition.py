"""A callback that any thread can trigger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.impl.wait_set import Guard
from ros_embedded.rclpy.utilities import get_default_context


class GuardCondition(ExecutableEntity):
    """Made by Node.create_guard_condition."""

    _PLACE = 3

    def __init__(
        self,
        callback: Callable[[], Any] | None,
        callback_group: CallbackGroup | None,
        context: Context | None = None,
    ) -> None:
        context = get_default_context() if context is None else context
        self._guard = Guard(context.participant.entity)
        super().__init__(callback_group, self._guard.condition)
        self.callback = callback

    def trigger(self) -> None:
        self.handle._guard.trigger()

    def _take(self) -> Callable[[], Any] | None:
        self._guard.reset()
        return self.callback

    def _close(self) -> None:
        self._guard.close()
