"""`param`: reading and changing the parameters of nodes."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import CommandError, argument, ask, command, find_node, flag, full_name, is_hidden
from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.parameter import get_parameter_value, parameter_value_to_python

# by the numbers of rcl_interfaces/msg/ParameterType
_TYPES = (
    "not set", "boolean", "integer", "double", "string", "byte array", "boolean array", "integer array",
    "double array", "string array",
)  # fmt: skip
_LABELS = (
    "Parameter not set.", "Boolean value is:", "Integer value is:", "Double value is:", "String value is:",
    "Byte values are:", "Boolean values are:", "Integer values are:", "Double values are:", "String values are:",
)  # fmt: skip
_NODE, _PARAMETER = argument("node_name"), argument("parameter_name")


def _names_of(node: Any, name: str) -> list[str]:
    return sorted(ask(node, name, "rcl_interfaces/list_parameters").result.names)


@command(
    "param list",
    "Output a list of available parameters",
    argument("node_name", nargs="?"),
    flag("--param-type", help="also show the types"),
)
def _list(node: Any, arguments: argparse.Namespace) -> None:
    if arguments.node_name:
        nodes = [full_name(*find_node(node, arguments.node_name))]
    else:
        services = {name for name, _ in node.get_service_names_and_types()}
        names = sorted(node.get_fully_qualified_node_names())
        nodes = [name for name in names if not is_hidden(name) and f"{name}/list_parameters" in services]
    for name in nodes:
        parameters = _names_of(node, name)
        if parameters and not arguments.node_name:
            print(f"{name}:")
        types = {}
        if arguments.param_type:
            descriptors = ask(node, name, "rcl_interfaces/describe_parameters", names=parameters).descriptors
            types = {each.name: f" (type: {_TYPES[each.type]})" for each in descriptors}
        for parameter in parameters:
            print(f"  {parameter}{types.get(parameter, '')}")


@command("param get", "Get parameter", _NODE, _PARAMETER, flag("--hide-type", help="only show the value"))
def _get(node: Any, arguments: argparse.Namespace) -> None:
    name = full_name(*find_node(node, arguments.node_name))
    values = ask(node, name, "rcl_interfaces/get_parameters", names=[arguments.parameter_name]).values
    if not values:
        raise CommandError("Parameter not set")
    value = parameter_value_to_python(values[0])
    print(*(() if arguments.hide_type else (_LABELS[values[0].type],)), *(() if value is None else (value,)))


@command("param set", "Set parameter", _NODE, _PARAMETER, argument("value"))
def _set(node: Any, arguments: argparse.Namespace) -> None:
    try:
        value = get_parameter_value(string_value=arguments.value)
    except (AssertionError, OverflowError) as error:
        raise CommandError(f"{arguments.value} is no value of a parameter: {error}") from error
    name = full_name(*find_node(node, arguments.node_name))
    parameter = get_message("rcl_interfaces/msg/Parameter")(name=arguments.parameter_name, value=value)
    (result,) = ask(node, name, "rcl_interfaces/set_parameters", parameters=[parameter]).results
    reason = f": {result.reason}" if result.reason else ""
    if not result.successful:
        raise CommandError(f"Setting parameter failed{reason}")
    print(f"Set parameter successful{reason}")


@command(
    "param describe",
    "Show descriptive information about declared parameters",
    _NODE,
    argument("parameter_names", nargs="+"),
)
def _describe(node: Any, arguments: argparse.Namespace) -> None:
    name = full_name(*find_node(node, arguments.node_name))
    for each in ask(node, name, "rcl_interfaces/describe_parameters", names=arguments.parameter_names).descriptors:
        print(f"Parameter name: {each.name}\n  Type: {_TYPES[each.type]}")
        if each.description:
            print(f"  Description: {each.description}")
        print("  Constraints:")
        if each.read_only:
            print("    Read only: true")
        for limits in (*each.floating_point_range, *each.integer_range):
            print(f"    Min value: {limits.from_value}\n    Max value: {limits.to_value}")
            if limits.step:
                print(f"    Step: {limits.step}")
        if each.additional_constraints:
            print(f"    Additional constraints: {each.additional_constraints}")
