"""`run`: a node's Python file as it is, or an executable of a package."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from pathlib import Path
from typing import Any

from ros_embedded.cli.command import CommandError
from ros_embedded.executables import executable_command


def add_commands(groups: Any) -> None:
    """Add the command."""
    parser = groups.add_parser("run", help="Run a node: FILE.py, or PACKAGE EXECUTABLE, then its own arguments")
    parser.add_argument("target", help="a Python file that uses rclpy, or a package")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="for a package the executable; then arguments")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    if Path(arguments.target).is_file():
        sys.argv = [arguments.target, *arguments.arguments]
        sys.path.insert(0, str(Path(arguments.target).resolve().parent))
        runpy.run_path(arguments.target, run_name="__main__")
        return
    if not arguments.arguments:
        raise CommandError(f"there is no file {arguments.target}; for a package name the executable too")
    executable, *rest = arguments.arguments
    command = [*executable_command(arguments.target, executable), *rest]
    os.execvpe(command[0], command, os.environ)
