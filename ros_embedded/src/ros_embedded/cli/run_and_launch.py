"""`run`: a node's Python file as it is, or an executable of a package; `launch`: a launch file."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from pathlib import Path
from typing import Any

from ros_embedded.cli.command import CommandError, argument, command, flag
from ros_embedded.executables import executable_command
from ros_embedded.interfaces.lookup import share_folders
from ros_embedded.launch_runner import run_launch_file, show_arguments


@command(
    "run",
    "Run a node: FILE.py, or PACKAGE EXECUTABLE, then its own arguments",
    argument("target", help="a Python file that uses rclpy, or a package"),
    argument("arguments", nargs=argparse.REMAINDER, help="for a package the executable; then arguments"),
    needs_node=False,
)
def _run(_: Any, arguments: argparse.Namespace) -> None:
    if Path(arguments.target).is_file():
        sys.argv = [arguments.target, *arguments.arguments]
        sys.path.insert(0, str(Path(arguments.target).resolve().parent))
        runpy.run_path(arguments.target, run_name="__main__")
        return
    if not arguments.arguments:
        raise CommandError(f"there is no file {arguments.target}; for a package name the executable too")
    executable, *rest = arguments.arguments
    words = [*executable_command(arguments.target, executable), *rest]
    os.execvpe(words[0], words, os.environ)


@command(
    "launch",
    "Run a launch file",
    flag("-s", "--show-args", "--show-arguments", help="only show its arguments"),
    argument("target", nargs="+", help="FILE, or PACKAGE FILE, then arguments as name:=value"),
    needs_node=False,
)
def _launch(_: Any, arguments: argparse.Namespace) -> None:
    values = [word for word in arguments.target if ":=" in word]
    path = _file([word for word in arguments.target if ":=" not in word])
    if arguments.show_args:
        print(show_arguments(path))
    elif run_launch_file(path, values) != 0:
        raise CommandError("a process of the launch has failed")


def _file(words: list[str]) -> Path:
    """The launch file of `FILE` or `PACKAGE FILE`. Raises CommandError."""
    if len(words) == 1:
        candidates = [Path(words[0])]
    elif len(words) == 2:
        shares = share_folders(words[0])
        candidates = [path for share in shares for path in (share / "launch" / words[1], share / words[1])]
    else:
        raise CommandError("expected FILE or PACKAGE FILE, then arguments as name:=value")
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise CommandError(f"launch file {' '.join(words)} not found")
    return found
