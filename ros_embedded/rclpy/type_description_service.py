"""A node's service `~/get_type_description`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import InterfaceNotFoundError, get_message, get_service
from ros_embedded.interfaces.type_hash import type_hash
from ros_embedded.rclpy.impl.type_description_message import type_description_message, type_sources_messages

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

START_TYPE_DESCRIPTION_SERVICE_PARAM = "start_type_description_service"


class TypeDescriptionService:
    """Created with a node, unless the parameter start_type_description_service is false; describes its interfaces."""

    def __init__(self, node: Node) -> None:
        name = START_TYPE_DESCRIPTION_SERVICE_PARAM
        if not node.has_parameter(name):
            descriptor = get_message("rcl_interfaces/msg/ParameterDescriptor")(
                name=name, type=1, description="If enabled, start the ~/get_type_description service.", read_only=True
            )
            node.declare_parameter(name, True, descriptor)
        if node.get_parameter(name).value:
            srv_type = get_service("type_description_interfaces/srv/GetTypeDescription")
            node.create_service(srv_type, "~/get_type_description", self._describe)

    def _describe(self, request: Any, response: Any) -> Any:
        try:
            known_hash = type_hash(request.type_name)
        except (InterfaceNotFoundError, ValueError) as error:
            response.successful, response.failure_reason = False, f"Type not currently in use by this node: {error}"
            return response
        if request.type_hash and request.type_hash != known_hash:
            response.successful, response.failure_reason = False, f"Type hash does not match {known_hash}"
            return response
        response.successful = True
        response.type_description = type_description_message(request.type_name)
        if request.include_type_sources:
            response.type_sources = type_sources_messages(request.type_name)
        return response
