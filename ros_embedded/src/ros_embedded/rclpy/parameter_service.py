"""A node's parameter services."""

from __future__ import annotations

from typing import Any

from ros_embedded.interfaces import get_message, get_service
from ros_embedded.rclpy.exceptions import ParameterNotDeclaredException, ParameterUninitializedException
from ros_embedded.rclpy.impl.node_interface import ServingNode
from ros_embedded.rclpy.parameter import Parameter
from ros_embedded.rclpy.qos import qos_profile_parameters

_NAMES = (
    "describe_parameters", "get_parameters", "get_parameter_types", "list_parameters", "set_parameters",
    "set_parameters_atomically",
)  # fmt: skip
PARAMETER_SERVICES = {name: f"rcl_interfaces/srv/{name.title().replace('_', '')}" for name in _NAMES}


class ParameterService:
    """Created with a node; lets others read and set its parameters."""

    def __init__(self, node: ServingNode) -> None:
        self._node = node
        for name, type_name in PARAMETER_SERVICES.items():
            service = get_service(type_name)
            node.create_service(service, f"~/{name}", self._answer(name), qos_profile=qos_profile_parameters)

    def _answer(self, name: str) -> Any:
        answer = getattr(self, f"_{name}")

        def callback(request: Any, response: Any) -> Any:
            try:
                answer(request, response)
            except (ParameterNotDeclaredException, ParameterUninitializedException, TypeError, ValueError) as error:
                self._node.get_logger().warning(f"Failed to {name.replace('_', ' ')}: {error}")
                return type(response)()
            return response

        return callback

    def _describe_parameters(self, request: Any, response: Any) -> None:
        response.descriptors = self._node.describe_parameters(list(request.names))

    def _get_parameters(self, request: Any, response: Any) -> None:
        for name in request.names:
            response.values.append(self._node.get_parameter(name).get_parameter_value())

    def _get_parameter_types(self, request: Any, response: Any) -> None:
        types = self._node.get_parameter_types(list(request.names))
        response.types = [kind if isinstance(kind, int) else kind.value for kind in types]

    def _list_parameters(self, request: Any, response: Any) -> None:
        response.result = self._node.list_parameters(list(request.prefixes), request.depth)

    def _set_parameters(self, request: Any, response: Any) -> None:
        response.results = [self._set([message]) for message in request.parameters]

    def _set_parameters_atomically(self, request: Any, response: Any) -> None:
        response.result = self._set(list(request.parameters))

    def _set(self, messages: list[Any]) -> Any:
        try:
            return self._node.set_parameters_atomically([Parameter.from_parameter_msg(each) for each in messages])
        except (ParameterNotDeclaredException, ValueError, RuntimeError) as error:
            return get_message("rcl_interfaces/msg/SetParametersResult")(successful=False, reason=str(error))
