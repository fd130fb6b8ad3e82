"""Entities that follow the state of their lifecycle node."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ros_embedded.rclpy.lifecycle.state_machine import TransitionCallbackReturn


class ManagedEntity:
    """Takes part in its node's transitions: each callback gets the previous state and returns its success."""

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS

    on_cleanup = on_shutdown = on_activate = on_deactivate = on_error = on_configure


class SimpleManagedEntity(ManagedEntity):
    """Knows whether its node is active."""

    def __init__(self) -> None:
        self._enabled = False

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        self._enabled = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        self._enabled = False
        return TransitionCallbackReturn.SUCCESS

    @property
    def is_activated(self) -> bool:
        return self._enabled

    @staticmethod
    def when_enabled(
        wrapped: Callable[..., Any] | None = None, *, when_not_enabled: Callable[[], Any] | None = None
    ) -> Any:
        """Decorate a method to do nothing, or to call `when_not_enabled`, while the node is not active."""

        def decorator(method: Callable[..., Any]) -> Callable[..., None]:
            @wraps(method)
            def only_when_enabled(self: SimpleManagedEntity, *args: Any, **kwargs: Any) -> None:
                if self._enabled:
                    method(self, *args, **kwargs)
                elif when_not_enabled is not None:
                    when_not_enabled()

            return only_when_enabled

        return decorator if wrapped is None else decorator(wrapped)
