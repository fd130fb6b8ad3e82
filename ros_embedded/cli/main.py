"""Finds the command and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import ros_embedded
from ros_embedded.cli import action, interface, launch, lifecycle, node, param, run, service, topic
from ros_embedded.cli.command import CommandError
from ros_embedded.executables import ExecutableNotFoundError
from ros_embedded.interfaces import InterfaceNotFoundError, InterfaceSyntaxError
from ros_embedded.launch.actions import LaunchArgumentError
from ros_embedded.launch.substitutions import SubstitutionFailure
from ros_embedded.rclpy.exceptions import NameValidationException

COMMANDS = (action, interface, launch, lifecycle, node, param, run, service, topic)
# what a user can cause by what they type
_USER_ERRORS = (
    CommandError,
    ExecutableNotFoundError,
    InterfaceNotFoundError,
    InterfaceSyntaxError,
    LaunchArgumentError,
    NameValidationException,
    SubstitutionFailure,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status, 1 after an error that was told on standard error."""
    ros_embedded.activate()
    parser = argparse.ArgumentParser(prog="ros_embedded", description=__doc__)
    groups = parser.add_subparsers(dest="command", required=True)
    for module in COMMANDS:
        module.add_commands(groups)
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except _USER_ERRORS as error:
        print(error, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0
