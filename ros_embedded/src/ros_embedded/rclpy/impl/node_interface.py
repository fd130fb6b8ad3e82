"""The part of a node that its entities and executors know, so that they need not import rclpy.node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.impl.node_core import NodeCore
from ros_embedded.rclpy.impl.rcutils_logger import RcutilsLogger
from ros_embedded.rclpy.qos import QoSProfile


class NodeInterface(Protocol):
    """A node as its entities and executors see it."""

    _rclpy_core: NodeCore
    executor: Any

    @property
    def context(self) -> Context:
        """The node's context."""

    @property
    def default_callback_group(self) -> CallbackGroup:
        """The group of callbacks that are created without one."""

    @property
    def handle(self) -> Any:
        """The node itself. Raises InvalidHandle once it is destroyed."""

    def get_logger(self) -> RcutilsLogger:
        """The node's logger."""

    def declare_parameter(self, name: str, value: Any = None, descriptor: Any = None) -> Any:
        """Declare a parameter, which an override of the command line may set."""

    def get_parameter(self, name: str) -> Any:
        """A declared parameter."""


class ServingNode(NodeInterface, Protocol):
    """A node as the services that it creates for itself see it: parameters, time source, type descriptions."""

    def has_parameter(self, name: str) -> bool:
        """True if the parameter is declared."""

    def describe_parameters(self, names: list[str]) -> list[Any]:
        """The descriptors of parameters."""

    def get_parameter_types(self, names: list[str]) -> list[Any]:
        """The types of parameters."""

    def list_parameters(self, prefixes: list[str], depth: int) -> Any:
        """The names of parameters."""

    def set_parameters_atomically(self, parameter_list: list[Any]) -> Any:
        """Set all or none."""

    def add_on_set_parameters_callback(self, callback: Callable[[list[Any]], Any]) -> None:
        """Have a callback asked before parameters change."""

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[[Any, Any], Any], *, qos_profile: QoSProfile = ...
    ) -> Any:
        """Answer requests with what `callback` makes of them."""

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[..., Any], qos_profile: Any) -> Any:
        """Have `callback` called with each message."""

    def destroy_subscription(self, subscription: Any) -> bool:
        """Free a subscription; False if it is not the node's."""
