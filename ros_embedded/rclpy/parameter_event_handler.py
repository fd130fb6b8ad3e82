"""Calls back when parameters change, of this node or others."""

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
        event = get_message("rcl_interfaces/msg/ParameterEvent")
        self.parameter_event_subscription = node.create_subscription(
            event,
            "/parameter_events",
            self._on_event,
            qos_profile,
            callback_group=callback_group,
            event_callbacks=event_callbacks,
            qos_overriding_options=qos_overriding_options,
            raw=raw,
        )

    def destroy(self) -> None:
        """Stop."""
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
        if event.node != node_name:
            return None
        found = [p for p in ParameterEventHandler.get_parameters_from_event(event) if p.name == parameter_name]
        return found[0] if found else None

    @staticmethod
    def get_parameters_from_event(event: Any) -> Iterable[Any]:
        """The new and changed parameters of an event."""
        return [*event.new_parameters, *event.changed_parameters]

    def add_parameter_callback(
        self, parameter_name: str, node_name: str, callback: Callable[[Any], None]
    ) -> ParameterCallbackHandle:
        """Call back with the message of a parameter when it changes; an empty node name means this node."""
        if not node_name:
            full_name = self.node.get_fully_qualified_name()
        else:
            root = self.node.get_namespace().rstrip("/")
            full_name = node_name if node_name.startswith("/") else f"{root}/{node_name}"
        handle = ParameterCallbackHandle(parameter_name, full_name, callback)
        self._parameter_callbacks.insert(0, handle)
        return handle

    def remove_parameter_callback(self, handle: ParameterCallbackHandle) -> None:
        """Raises RuntimeError if it was not added."""
        if handle not in self._parameter_callbacks:
            raise RuntimeError("Callback doesn't exist")
        self._parameter_callbacks.remove(handle)

    def add_parameter_event_callback(self, callback: Callable[[Any], None]) -> ParameterEventCallbackHandle:
        """Call back with every event."""
        handle = ParameterEventCallbackHandle(callback)
        self._event_callbacks.insert(0, handle)
        return handle

    def remove_parameter_event_callback(self, handle: ParameterEventCallbackHandle) -> None:
        """Raises RuntimeError if it was not added."""
        if handle not in self._event_callbacks:
            raise RuntimeError("Callback doesn't exist")
        self._event_callbacks.remove(handle)
