"""`launch`: running a launch file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ros_embedded.cli.command import CommandError
from ros_embedded.interfaces.lookup import share_folders
from ros_embedded.launch_runner import run_launch_file, show_arguments


def add_commands(groups: Any) -> None:
    """Add the command."""
    parser = groups.add_parser("launch", help="Run a launch file")
    parser.add_argument("-s", "--show-args", "--show-arguments", action="store_true", help="only show its arguments")
    parser.add_argument("target", nargs="+", help="FILE, or PACKAGE FILE, then arguments as name:=value")
    parser.set_defaults(run=_launch)


def _launch(arguments: argparse.Namespace) -> None:
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
