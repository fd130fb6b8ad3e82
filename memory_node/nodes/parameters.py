"""Declares parameters to ROS, and reads the values that a node was given, checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node

from memory_node.domain.parameters import InvalidParametersError, Kind, ParameterField, Parameters, parameter_fields

# Parameters that rclpy and launch give every node.
_OF_ROS = ("use_sim_time", "start_type_description_service")
_OF_ROS_PREFIX = "qos_overrides."


def declare(node: Node, kind: type[Kind]) -> Kind:
    """Declare each of the parameters with type, range and description; return the values given to the node.

    What is returned follows `ros2 param set` where a parameter is `Live`; for others that is refused.

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
    declared = [
        (field.name, field.value_in(config), _descriptor(field))
        for field in fields
        if not field.taken_from or field.name in given
    ]
    node.declare_parameters("", declared, ignore_override=True)
    node.add_on_set_parameters_callback(partial(_change, config))
    return config


def _change(config: Parameters, parameters: Sequence[Any]) -> SetParametersResult:
    """Take over values that were set while the node runs: all of them, or none with the reason."""
    live = {field.name: field.live for field in parameter_fields(type(config))}
    wanted = {parameter.name: _plain(parameter.value) for parameter in parameters if parameter.name in live}
    fixed = [name for name in wanted if not live[name]]
    if fixed:
        reason = f"{', '.join(fixed)}: read when the node starts; give it in a file or with -p, and start it again"
        return SetParametersResult(successful=False, reason=reason)
    try:
        config.adopt(type(config).of({**config.values(), **wanted}))
    except InvalidParametersError as error:
        return SetParametersResult(successful=False, reason=str(error))
    return SetParametersResult(successful=True)


def _names_of_all_nodes() -> set[str]:
    # imported only for a name that is not the node's own: a robot's bridge needs nothing of the simulators
    kinds = import_module("memory_node.nodes.node_parameters").NODE_PARAMETERS.values()
    return {field.name for kind in kinds for field in parameter_fields(kind)}


def _plain(value: Any) -> Any:
    """Return a list where rclpy has an array."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else list(value)


def _descriptor(field: ParameterField) -> ParameterDescriptor:
    description = field.description if field.live else f"{field.description}; read when the node starts"
    descriptor = ParameterDescriptor(description=description)
    if field.low is None or field.high is None or field.is_list:
        descriptor.additional_constraints = field.expected
    elif field.kind is int:
        descriptor.integer_range = [IntegerRange(from_value=int(field.low), to_value=int(field.high), step=0)]
    else:
        descriptor.floating_point_range = [FloatingPointRange(from_value=field.low, to_value=field.high, step=0.0)]
    return descriptor
