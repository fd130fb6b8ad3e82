"""`list` of topics, services and actions."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ros_embedded.cli.command import NamesAndTypes, command, flag, is_hidden
from ros_embedded.rclpy.action import get_action_names_and_types


def _declare(kind: str, names_and_types: Callable[[Any], NamesAndTypes]) -> None:
    @command(
        f"{kind} list",
        f"Output a list of available {kind}s",
        flag("-t", "--show-types", help="also show the types"),
        flag(f"--include-hidden-{kind}s", dest="hidden", help=f"hidden {kind}s too"),
    )
    def _list(node: Any, arguments: argparse.Namespace) -> None:
        found = sorted(names_and_types(node))
        for name, types in found:
            if arguments.hidden or not is_hidden(name):
                print(f"{name} [{', '.join(types)}]" if arguments.show_types else name)


_declare("topic", lambda node: node.get_topic_names_and_types())
_declare("service", lambda node: node.get_service_names_and_types())
_declare("action", get_action_names_and_types)
