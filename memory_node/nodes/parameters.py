"""Declares parameters to ROS, and reads the values that a node was given, checked."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from memory_node.domain.parameter_file import parameter_blocks
from memory_node.domain.parameters import Kind, ParameterField, flattened, parameter_fields
from memory_node.domain.resources import resource_path
from memory_node.nodes.run import NODES

# Parameters that rclpy and launch give every node.
_OF_ROS = ("use_sim_time", "start_type_description_service")
_OF_ROS_PREFIX = "qos_overrides."


def declare(node: Node, kind: type[Kind]) -> Kind:
    """Declare each of the parameters, read-only, with type, range and description; return the values given to the node.

    The node must have been made with automatically_declare_parameters_from_overrides=True: this is how rclpy tells
    every value that a node was given, names that it does not know among them. A whole number is taken for a number. A
    name that only other nodes of ours have is left aside, because `-p NAME:=VALUE` and `/**` give it to all.

    Raises:
        InvalidParametersError: names that are no parameters, or values that do not fit.
    """
    given = {
        name: _plain(parameter.value)
        for name, parameter in node.get_parameters_by_prefix("").items()
        if name not in _OF_ROS and not name.startswith(_OF_ROS_PREFIX)
    }
    for name in given:
        node.undeclare_parameter(name)
    fields = list(parameter_fields(kind))
    own = {field.name for field in fields}
    unknown = [name for name in given if name not in own]
    others = _names_of_all_nodes() if unknown else set()
    for name in [name for name in unknown if name in others]:
        node.get_logger().info(f"parameter {name} is another node's; it changes nothing here")
        del given[name]
    config = kind.of(given, "parameters")
    declared = [(field.name, field.value_in(config), _descriptor(field)) for field in fields]
    node.declare_parameters("", declared, ignore_override=True)
    return config


def _names_of_all_nodes() -> set[str]:
    """Return the names in the shipped files, which hold every parameter; so a node imports no other node's parts."""
    blocks = (block for node in NODES for _, block in parameter_blocks(resource_path(f"config/{node}.yaml")))
    return {name for block in blocks for name in flattened(block)}


def _plain(value: Any) -> Any:
    """Return a list where rclpy has an array."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else list(value)


def _descriptor(field: ParameterField) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=field.description, read_only=True)
    if field.low is None or field.high is None or field.is_list:
        descriptor.additional_constraints = field.expected
    elif field.kind is int:
        descriptor.integer_range = [IntegerRange(from_value=int(field.low), to_value=int(field.high), step=0)]
    else:
        descriptor.floating_point_range = [FloatingPointRange(from_value=field.low, to_value=field.high, step=0.0)]
    return descriptor
