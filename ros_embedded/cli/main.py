"""Finds the command and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import ros_embedded
from ros_embedded.cli import action, interface, launch, lifecycle, node, param, service, topic
from ros_embedded.cli.command import CommandError

COMMANDS = (action, interface, launch, lifecycle, node, param, service, topic)


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
    except (CommandError, LookupError, ValueError, TypeError, AttributeError) as error:
        print(error.args[0] if error.args else error, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0
