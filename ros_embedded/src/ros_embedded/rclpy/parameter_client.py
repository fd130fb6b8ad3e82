"""Reads and sets the parameters of another node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import get_message, get_service
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.event_handler import SubscriptionEventCallbacks
from ros_embedded.rclpy.impl.polling import wait_until
from ros_embedded.rclpy.parameter import Parameter, parameter_dict_from_yaml_file
from ros_embedded.rclpy.parameter_service import PARAMETER_SERVICES
from ros_embedded.rclpy.qos import QoSProfile, qos_profile_parameter_events, qos_profile_services_default
from ros_embedded.rclpy.qos_overriding_options import QoSOverridingOptions
from ros_embedded.rclpy.subscription import Subscription
from ros_embedded.rclpy.task import Future

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

Callback = Callable[[Future], Any]


class AsyncParameterClient:
    """Each method returns a future of the service's response, and calls `callback` with it."""

    def __init__(
        self,
        node: Node,
        remote_node_name: str,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: CallbackGroup | None = None,
    ) -> None:
        self.node, self.remote_node_name = node, remote_node_name
        options: Any = {"qos_profile": qos_profile, "callback_group": callback_group}
        self._clients = {
            name: node.create_client(get_service(type_name), f"{remote_node_name}/{name}", **options)
            for name, type_name in PARAMETER_SERVICES.items()
        }

    def services_are_ready(self) -> bool:
        return all(client.service_is_ready() for client in self._clients.values())

    def wait_for_services(self, timeout_sec: float | None = None) -> bool:
        """Wait for the services; False after `timeout_sec`."""
        return wait_until(self.services_are_ready, timeout_sec, self.node.context)

    def _call(self, name: str, callback: Callback | None, **fields: Any) -> Future:
        client = self._clients[name]
        future = client.call_async(client.srv_type.Request(**fields))
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def list_parameters(
        self, prefixes: list[str] | None = None, depth: int | None = None, callback: Callback | None = None
    ) -> Future:
        return self._call("list_parameters", callback, prefixes=prefixes or [], depth=depth or 0)

    def get_parameters(self, names: list[str], callback: Callback | None = None) -> Future:
        return self._call("get_parameters", callback, names=names)

    def set_parameters(self, parameters: Sequence[Any], callback: Callback | None = None) -> Future:
        """Set Parameters, or their messages, one by one."""
        return self._call("set_parameters", callback, parameters=_messages(parameters))

    def set_parameters_atomically(self, parameters: Sequence[Any], callback: Callback | None = None) -> Future:
        return self._call("set_parameters_atomically", callback, parameters=_messages(parameters))

    def describe_parameters(self, names: list[str], callback: Callback | None = None) -> Future:
        return self._call("describe_parameters", callback, names=names)

    def get_parameter_types(self, names: list[str], callback: Callback | None = None) -> Future:
        return self._call("get_parameter_types", callback, names=names)

    def delete_parameters(self, names: list[str], callback: Callback | None = None) -> Future:
        return self.set_parameters([Parameter(name) for name in names], callback)

    def load_parameter_file(
        self, parameter_file: str, use_wildcard: bool = False, callback: Callback | None = None
    ) -> Future:
        """Set what a file says, one by one; see parameter_dict_from_yaml_file."""
        return self.set_parameters([*parameter_dict_from_yaml_file(parameter_file, use_wildcard).values()], callback)

    def load_parameter_file_atomically(
        self, parameter_file: str, use_wildcard: bool = False, callback: Callback | None = None
    ) -> Future:
        """Set all that a file says, or nothing."""
        parameters = parameter_dict_from_yaml_file(parameter_file, use_wildcard)
        return self.set_parameters_atomically([*parameters.values()], callback)

    def on_parameter_event(
        self,
        callback: Callable[[Any], Any],
        qos_profile: QoSProfile = qos_profile_parameter_events,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        raw: bool = False,
    ) -> Subscription:
        """Call back with the parameter events of all nodes; options as for create_subscription."""
        return self.node.create_subscription(
            get_message("rcl_interfaces/msg/ParameterEvent"),
            "/parameter_events",
            callback,
            qos_profile,
            callback_group=callback_group,
            event_callbacks=event_callbacks,
            qos_overriding_options=qos_overriding_options,
            raw=raw,
        )


def _messages(parameters: Sequence[Any]) -> list[Any]:
    return [item.to_parameter_msg() if isinstance(item, Parameter) else item for item in parameters]
