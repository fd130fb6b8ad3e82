"""`param`: reading and changing the parameters of nodes."""

from __future__ import annotations

import argparse
from array import array
from typing import Any

import yaml

from ros_embedded.cli.command import (
    CommandError,
    absolute,
    add_command,
    add_group,
    call_service,
    find_node,
    full_name,
    graph_node,
    is_hidden,
)
from ros_embedded.interfaces import get_message, get_service
from ros_embedded.rclpy.parameter import get_parameter_value, parameter_value_to_python

_LABELS = {
    0: "Parameter not set.",
    1: "Boolean value is:",
    2: "Integer value is:",
    3: "Double value is:",
    4: "String value is:",
    5: "Byte values are:",
    6: "Boolean values are:",
    7: "Integer values are:",
    8: "Double values are:",
    9: "String values are:",
}
_TYPES = {
    0: "not set",
    1: "boolean",
    2: "integer",
    3: "double",
    4: "string",
    5: "byte array",
    6: "boolean array",
    7: "integer array",
    8: "double array",
    9: "string array",
}


def add_commands(groups: Any) -> None:
    """Add the group and its commands."""
    group = add_group(groups, "param", "Various param related sub-commands")
    listing = add_command(group, "list", _list, "Output a list of available parameters")
    listing.add_argument("node_name", nargs="?")
    listing.add_argument("--param-type", action="store_true", help="also show the types")
    get = add_command(group, "get", _get, "Get parameter")
    get.add_argument("node_name")
    get.add_argument("parameter_name")
    get.add_argument("--hide-type", action="store_true", help="only show the value")
    set_ = add_command(group, "set", _set, "Set parameter")
    set_.add_argument("node_name")
    set_.add_argument("parameter_name")
    set_.add_argument("value")
    describe = add_command(group, "describe", _describe, "Show descriptive information about declared parameters")
    describe.add_argument("node_name")
    describe.add_argument("parameter_names", nargs="+")
    add_command(group, "dump", _dump, "Show all of the parameters of a node in YAML").add_argument("node_name")


def _list(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        if arguments.node_name:
            names = [full_name(*find_node(node, arguments.node_name))]
        else:
            services = {name for name, _ in node.get_service_names_and_types()}
            names = sorted(full_name(*found) for found in node.get_node_names_and_namespaces())
            names = [name for name in names if not is_hidden(name) and f"{name}/list_parameters" in services]
        for name in names:
            parameters = _names_of(node, name)
            if parameters and not arguments.node_name:
                print(f"{name}:")
            types = {}
            if arguments.param_type:
                types = {each.name: _TYPES[each.type] for each in _descriptors(node, name, parameters)}
            for parameter in parameters:
                print(f"  {parameter} (type: {types[parameter]})" if types else f"  {parameter}")


def _get(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        values = _values_of(node, full_name(*find_node(node, arguments.node_name)), [arguments.parameter_name])
    if not values:
        raise CommandError("Parameter not set")
    value = _plain(values[0])
    if arguments.hide_type:
        print(value)
    else:
        print(_LABELS[values[0].type], *(() if value is None else (value,)))


def _set(arguments: argparse.Namespace) -> None:
    service = get_service("rcl_interfaces/srv/SetParameters")
    parameter = get_message("rcl_interfaces/msg/Parameter")(name=arguments.parameter_name)
    parameter.value = get_parameter_value(string_value=arguments.value)
    with graph_node(arguments) as node:
        name = full_name(*find_node(node, arguments.node_name))
        response = call_service(node, service, f"{name}/set_parameters", service.Request(parameters=[parameter]))
    result = response.results[0]
    reason = f": {result.reason}" if result.reason else ""
    if not result.successful:
        raise CommandError(f"Setting parameter failed{reason}")
    print(f"Set parameter successful{reason}")


def _describe(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        name = full_name(*find_node(node, arguments.node_name))
        for each in _descriptors(node, name, arguments.parameter_names):
            print(f"Parameter name: {each.name}\n  Type: {_TYPES[each.type]}")
            if each.description:
                print(f"  Description: {each.description}")
            print("  Constraints:")
            if each.read_only:
                print("    Read only: true")
            for limits in (*each.floating_point_range, *each.integer_range):
                print(f"    Min value: {limits.from_value}\n    Max value: {limits.to_value}\n    Step: {limits.step}")
            if each.additional_constraints:
                print(f"    Additional constraints: {each.additional_constraints}")


def _dump(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        name = full_name(*find_node(node, absolute(arguments.node_name)))
        names = _names_of(node, name)
        values = _values_of(node, name, names) if names else []
    tree: dict[str, Any] = {}
    for parameter, value in zip(names, values):
        *groups, leaf = parameter.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[leaf] = _plain(value)
    print(yaml.dump({name: {"ros__parameters": tree}}, default_flow_style=False))


def _names_of(node: Any, name: str) -> list[str]:
    service = get_service("rcl_interfaces/srv/ListParameters")
    return sorted(call_service(node, service, f"{name}/list_parameters", service.Request()).result.names)


def _values_of(node: Any, name: str, parameters: list[str]) -> list[Any]:
    service = get_service("rcl_interfaces/srv/GetParameters")
    return call_service(node, service, f"{name}/get_parameters", service.Request(names=parameters)).values


def _descriptors(node: Any, name: str, parameters: list[str]) -> list[Any]:
    service = get_service("rcl_interfaces/srv/DescribeParameters")
    request = service.Request(names=parameters)
    return call_service(node, service, f"{name}/describe_parameters", request).descriptors


def _plain(value: Any) -> Any:
    python_value = parameter_value_to_python(value)
    return python_value.tolist() if isinstance(python_value, array) else python_value
