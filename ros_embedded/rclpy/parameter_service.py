"""A node's parameter services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import get_message, get_service
from ros_embedded.rclpy.exceptions import ParameterNotDeclaredException, ParameterUninitializedException
from ros_embedded.rclpy.parameter import Parameter
from ros_embedded.rclpy.qos import qos_profile_parameters

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

_SERVICES = {
    "describe_parameters": "DescribeParameters",
    "get_parameters": "GetParameters",
    "get_parameter_types": "GetParameterTypes",
    "list_parameters": "ListParameters",
    "set_parameters": "SetParameters",
    "set_parameters_atomically": "SetParametersAtomically",
}


class ParameterService:
    """Created with a node; lets others read and set its parameters."""

    def __init__(self, node: Node) -> None:
        self._node = node
        for name, type_name in _SERVICES.items():
            srv_type = get_service(f"rcl_interfaces/srv/{type_name}")
            callback = getattr(self, f"_{name}")
            node.create_service(srv_type, f"~/{name}", callback, qos_profile=qos_profile_parameters)

    def _describe_parameters(self, request: Any, response: Any) -> Any:
        try:
            response.descriptors = self._node.describe_parameters(list(request.names))
        except ParameterNotDeclaredException as error:
            self._node.get_logger().warning(f"Failed to describe parameters: {error}")
        return response

    def _get_parameters(self, request: Any, response: Any) -> Any:
        value = get_message("rcl_interfaces/msg/ParameterValue")
        for name in request.names:
            try:
                response.values.append(self._node.get_parameter(name).get_parameter_value())
            except ParameterUninitializedException:
                response.values.append(value())
            except ParameterNotDeclaredException as error:
                self._node.get_logger().warning(f"Failed to get parameters: {error}")
                response.values = []
                break
        return response

    def _get_parameter_types(self, request: Any, response: Any) -> Any:
        try:
            response.types = self._node.get_parameter_types(list(request.names))
        except ParameterNotDeclaredException as error:
            self._node.get_logger().warning(f"Failed to get parameter types: {error}")
        return response

    def _list_parameters(self, request: Any, response: Any) -> Any:
        try:
            response.result = self._node.list_parameters(list(request.prefixes), request.depth)
        except (TypeError, ValueError) as error:
            self._node.get_logger().warning(f"Failed to list parameters: {error}")
        return response

    def _set_parameters(self, request: Any, response: Any) -> Any:
        response.results = [self._set([message], one=True) for message in request.parameters]
        return response

    def _set_parameters_atomically(self, request: Any, response: Any) -> Any:
        response.result = self._set(list(request.parameters), one=False)
        return response

    def _set(self, messages: list[Any], one: bool) -> Any:
        try:
            parameters = [Parameter.from_parameter_msg(message) for message in messages]
            if one:
                return self._node.set_parameters(parameters)[0]
            return self._node.set_parameters_atomically(parameters)
        except (ParameterNotDeclaredException, ValueError, RuntimeError) as error:
            return get_message("rcl_interfaces/msg/SetParametersResult")(successful=False, reason=str(error))
