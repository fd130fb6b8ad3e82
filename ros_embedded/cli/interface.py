"""`interface`: definitions of messages, services and actions."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from ros_embedded.cli.command import CommandError, add_command, add_group
from ros_embedded.interfaces.lookup import (
    KINDS,
    action_definition,
    interface_names,
    interface_packages,
    message_definition,
    service_definition,
)
from ros_embedded.interfaces.parser import parse_message, split_comment

_DEFINITIONS: dict[str, Callable[[str], Any]] = {
    "msg": message_definition,
    "srv": service_definition,
    "action": action_definition,
}
_TITLES = {"msg": "Messages:", "srv": "Services:", "action": "Actions:"}


def add_commands(groups: Any) -> None:
    """Add the group and its commands."""
    group = add_group(groups, "interface", "Show information about ROS interfaces")
    show = add_command(group, "show", _show, "Output the interface definition")
    show.add_argument("type")
    comments = show.add_mutually_exclusive_group()
    comments.add_argument("--all-comments", action="store_true", help="comments of nested types too")
    comments.add_argument("--no-comments", action="store_true", help="no comments or empty lines")
    add_command(group, "list", _list, "List all interface types available")
    package = add_command(group, "package", _package, "Output a list of available interface types within one package")
    package.add_argument("package_name")
    add_command(group, "packages", _packages, "Output a list of packages that provide interfaces")


def _show(arguments: argparse.Namespace) -> None:
    for line in _lines(arguments.type, not arguments.no_comments, arguments.all_comments, 0):
        print(line)


def _lines(name: str, shows_comments: bool, shows_nested_comments: bool, depth: int) -> Iterator[str]:
    """The lines of a definition, each field of a message type followed by that message's lines, indented."""
    kind = name.split("/")[1:2]
    if not kind or kind[0] not in _DEFINITIONS:
        raise CommandError(f"Invalid name '{name}'. Expected three parts separated by '/'")
    for line in _DEFINITIONS[kind[0]](name).source.splitlines():
        statement, _ = split_comment(line)
        text = line.rstrip() if shows_comments else statement
        if text or shows_comments:
            yield "\t" * depth + text if text else ""
        for field in parse_message(name, "" if statement == "---" else statement).fields:
            if field.type.is_message:
                yield from _lines(field.type.name, shows_nested_comments, shows_nested_comments, depth + 1)


def _list(arguments: argparse.Namespace) -> None:
    for kind in KINDS:
        print(_TITLES[kind])
        for package in interface_packages():
            for name in interface_names(package, kind):
                print(f"    {package}/{kind}/{name}")


def _package(arguments: argparse.Namespace) -> None:
    package = arguments.package_name
    names = [f"{package}/{kind}/{name}" for kind in KINDS for name in interface_names(package, kind)]
    if not names:
        raise CommandError(f"Unknown package '{package}'")
    print("\n".join(names))


def _packages(arguments: argparse.Namespace) -> None:
    print("\n".join(interface_packages()))
