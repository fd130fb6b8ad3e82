"""Callbacks for changes of parameters, of this node or others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.event_handler import SubscriptionEventCallbacks
from ros_embedded.rclpy.qos import QoSProfile, qos_profile_parameter_events
from ros_embedded.rclpy.qos_overriding_options import QoSOverridingOptions

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node


@dataclass(eq=False)
class ParameterCallbackHandle:
    """A callback for one parameter of one node."""

    parameter_name: str
    node_name: str
    callback: Callable[[Any], None]


@dataclass(eq=False)
class ParameterEventCallbackHandle:
    """A callback for all events."""

    callback: Callable[[Any], None]


class ParameterEventHandler:
    """Subscribes to /parameter_events; the latest added callback is called first."""

    def __init__(
        self,
        node: Node,
        qos_profile: QoSProfile = qos_profile_parameter_events,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        raw: bool = False,
    ) -> None:
        self.node = node
        self._parameter_callbacks: list[ParameterCallbackHandle] = []
        self._event_callbacks: list[ParameterEventCallbackHandle] = []
        options: Any = {"callback_group": callback_group, "event_callbacks": event_callbacks, "raw": raw}
        options["qos_overriding_options"] = qos_overriding_options
        event = get_message("rcl_interfaces/msg/ParameterEvent")
        self.parameter_event_subscription = node.create_subscription(
            event, "/parameter_events", self._on_event, qos_profile, **options
        )

    def destroy(self) -> None:
        self.node.destroy_subscription(self.parameter_event_subscription)

    def _on_event(self, event: Any) -> None:
        for handle in list(self._parameter_callbacks):
            parameter = self.get_parameter_from_event(event, handle.parameter_name, handle.node_name)
            if parameter is not None:
                handle.callback(parameter)
        for event_handle in list(self._event_callbacks):
            event_handle.callback(event)

    @staticmethod
    def get_parameter_from_event(event: Any, parameter_name: str, node_name: str) -> Any:
        """The parameter message that an event holds for a parameter, or None."""
        parameters = ParameterEventHandler.get_parameters_from_event(event) if event.node == node_name else ()
        return next((parameter for parameter in parameters if parameter.name == parameter_name), None)

    @staticmethod
    def get_parameters_from_event(event: Any) -> Iterable[Any]:
        """The new and changed parameters of an event."""
        return [*event.new_parameters, *event.changed_parameters]

    def add_parameter_callback(
        self, parameter_name: str, node_name: str, callback: Callable[[Any], None]
    ) -> ParameterCallbackHandle:
        """Call back with the message of a parameter when it changes; an empty node name means this node."""
        if not node_name:
            node_name = self.node.get_fully_qualified_name()
        elif not node_name.startswith("/"):
            node_name = f"{self.node.get_namespace().rstrip('/')}/{node_name}"
        self._parameter_callbacks.insert(0, ParameterCallbackHandle(parameter_name, node_name, callback))
        return self._parameter_callbacks[0]

    def remove_parameter_callback(self, handle: ParameterCallbackHandle) -> None:
        """Raises RuntimeError if it was not added."""
        _remove(handle, self._parameter_callbacks)

    def add_parameter_event_callback(self, callback: Callable[[Any], None]) -> ParameterEventCallbackHandle:
        self._event_callbacks.insert(0, ParameterEventCallbackHandle(callback))
        return self._event_callbacks[0]

    def remove_parameter_event_callback(self, handle: ParameterEventCallbackHandle) -> None:
        """Raises RuntimeError if it was not added."""
        _remove(handle, self._event_callbacks)


def _remove(handle: Any, handles: list[Any]) -> None:
    if handle not in handles:
        raise RuntimeError("Callback doesn't exist")
    handles.remove(handle)
