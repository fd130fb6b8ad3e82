"""A node's service `~/get_type_description`."""

from __future__ import annotations

from typing import Any

from ros_embedded.interfaces import InterfaceNotFoundError, get_message, get_service
from ros_embedded.interfaces.lookup import interface_text
from ros_embedded.interfaces.type_description import described_types, type_description, type_hash
from ros_embedded.rclpy.impl.node_interface import ServingNode
from ros_embedded.rosidl_runtime_py import set_message_fields

START_TYPE_DESCRIPTION_SERVICE_PARAM = "start_type_description_service"


class TypeDescriptionService:
    """Created with a node, unless the parameter start_type_description_service is false; describes its interfaces."""

    def __init__(self, node: ServingNode) -> None:
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
            response.failure_reason = f"Type not currently in use by this node: {error}"
            return response
        if request.type_hash and request.type_hash != known_hash:
            response.failure_reason = f"Type hash does not match {known_hash}"
            return response
        response.successful = True
        set_message_fields(response.type_description, type_description(request.type_name))
        if request.include_type_sources:
            response.type_sources = _sources(request.type_name)
        return response


def _sources(name: str) -> list[Any]:
    """The type_description_interfaces/msg/TypeSource of an interface and of all types in it that have files."""
    source = get_message("type_description_interfaces/msg/TypeSource")
    found = []
    for described in described_types(name):
        try:
            text = interface_text(described.name)
        except InterfaceNotFoundError:
            continue
        kind = described.name.split("/")[1]
        found.append(source(type_name=described.name, encoding=kind, raw_file_contents=text))
    return found
