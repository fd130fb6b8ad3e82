"""Finds the command and runs it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

import ros_embedded
from ros_embedded.cli import (  # noqa: F401 - each declares its commands
    action_commands,
    bench_command,
    lifecycle_commands,
    list_commands,
    param_commands,
    run_and_launch,
    service_commands,
    topic_commands,
)
from ros_embedded.cli.command import COMMANDS, CommandError, graph_node
from ros_embedded.executables import ExecutableNotFoundError
from ros_embedded.interfaces import InterfaceNotFoundError, InterfaceSyntaxError
from ros_embedded.launch.actions import LaunchArgumentError
from ros_embedded.launch.substitutions import SubstitutionFailure
from ros_embedded.rclpy.exceptions import NameValidationException

# errors that wrong input causes; the user sees the message alone
_USER_ERRORS = (
    CommandError,
    ExecutableNotFoundError,
    InterfaceNotFoundError,
    InterfaceSyntaxError,
    LaunchArgumentError,
    NameValidationException,
    SubstitutionFailure,
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ros_embedded", description="The everyday part of the ros2 command line")
    groups: dict[str, Any] = {"": parser.add_subparsers(required=True)}
    for name, each in COMMANDS.items():
        group, _, verb = name.rpartition(" ")
        if group not in groups:
            groups[group] = groups[""].add_parser(group, help=f"{group} commands").add_subparsers(required=True)
        command = groups[group].add_parser(verb, help=each.help_text, description=each.help_text)
        for names_of, options in each.arguments:
            command.add_argument(*names_of, **options)
        if each.needs_node:
            default = None if each.needs_graph else 0.0
            command.add_argument("--spin-time", type=float, default=default, help="seconds to discover the graph")
        command.set_defaults(command=each)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 1 after an error, which is printed on standard error."""
    ros_embedded.activate()
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command.needs_node:
            with graph_node(arguments.spin_time) as own_node:
                arguments.command.run(own_node, arguments)
        else:
            arguments.command.run(None, arguments)
    except _USER_ERRORS as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has gone: discard the rest, the flush at exit too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return 0
