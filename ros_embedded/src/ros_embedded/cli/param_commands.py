"""`param`: reading and changing the parameters of nodes."""

from __future__ import annotations

import argparse
from typing import Any

import yaml

from ros_embedded.cli.command import CommandError, argument, ask, command, find_node, flag, full_name, is_hidden
from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.parameter import (
    get_parameter_value,
    parameter_dict_from_yaml_file,
    parameter_value_to_python,
)

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
        values = {arguments.parameter_name: get_parameter_value(string_value=arguments.value)}
    except (AssertionError, OverflowError) as error:
        raise CommandError(f"{arguments.value} is no value of a parameter: {error}") from error
    _change(node, arguments, values, "Set parameter successful", "Setting parameter failed")


@command("param delete", "Delete parameter", _NODE, _PARAMETER)
def _delete(node: Any, arguments: argparse.Namespace) -> None:
    values = {arguments.parameter_name: get_message("rcl_interfaces/msg/ParameterValue")()}
    _change(node, arguments, values, "Deleted parameter successfully", "Deleting parameter failed")


@command(
    "param load",
    "Load parameter file for a node",
    _NODE,
    argument("parameter_file"),
    flag("--no-use-wildcard", help="not the parameters of `/**`"),
)
def _load(node: Any, arguments: argparse.Namespace) -> None:
    try:
        found = parameter_dict_from_yaml_file(arguments.parameter_file, not arguments.no_use_wildcard)
    except (OSError, RuntimeError, TypeError, yaml.YAMLError) as error:
        raise CommandError(f"Cannot load '{arguments.parameter_file}': {error}") from error
    values = {name: each.value for name, each in found.items()}
    _change(node, arguments, values, "Set parameter {} successful", "Set parameter {} failed")


def _change(node: Any, arguments: argparse.Namespace, values: dict[str, Any], done: str, failed: str) -> None:
    """Set parameters and print each result. Raises CommandError after the last if one could not be set."""
    name = full_name(*find_node(node, arguments.node_name))
    message = get_message("rcl_interfaces/msg/Parameter")
    parameters = [message(name=parameter, value=value) for parameter, value in values.items()]
    failures = []
    for parameter, result in zip(
        values, ask(node, name, "rcl_interfaces/set_parameters", parameters=parameters).results
    ):
        text = (done if result.successful else failed).format(parameter)
        text += f": {result.reason}" if result.reason else ""
        if result.successful:
            print(text)
        else:
            failures.append(text)
    if failures:
        raise CommandError("\n".join(failures))


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


@command("param dump", "Show all of the parameters of a node in YAML", _NODE)
def _dump(node: Any, arguments: argparse.Namespace) -> None:
    name = full_name(*find_node(node, arguments.node_name))
    names = _names_of(node, name)
    values = ask(node, name, "rcl_interfaces/get_parameters", names=names).values if names else []
    tree: dict[str, Any] = {}
    for parameter, value in zip(names, values):
        *groups, leaf = parameter.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[leaf] = parameter_value_to_python(value)
    print(yaml.dump({name: {"ros__parameters": tree}}, default_flow_style=False))
