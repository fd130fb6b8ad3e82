"""`list` of topics, services and actions."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ros_embedded.cli.command import NamesAndTypes, command, flag, is_hidden
from ros_embedded.rclpy.action import get_action_names_and_types


def _declare(kind: str, names_and_types: Callable[[Any], NamesAndTypes]) -> None:
    counts = (flag("-v", "--verbose", help="also show how many publish and subscribe"),) if kind == "topic" else ()

    @command(
        f"{kind} list",
        f"Output a list of available {kind}s",
        flag("-t", "--show-types", help="also show the types"),
        *counts,
        flag("-c", f"--count-{kind}s", dest="count", help="only show how many there are"),
        flag(f"--include-hidden-{kind}s", dest="hidden", help=f"hidden {kind}s too"),
    )
    def _list(node: Any, arguments: argparse.Namespace) -> None:
        found = sorted(names_and_types(node))
        shown = [(name, types) for name, types in found if arguments.hidden or not is_hidden(name)]
        if arguments.count:
            print(len(shown))
        elif counts and arguments.verbose:
            _show_counts(node, shown)
        else:
            for name, types in shown:
                print(f"{name} [{', '.join(types)}]" if arguments.show_types else name)


def _show_counts(node: Any, topics: NamesAndTypes) -> None:
    for heading, end in (("Published", "publisher"), ("Subscribed", "subscriber")):
        print(f"{heading} topics:")
        for name, types in topics:
            count = getattr(node, f"count_{end}s")(name)
            if count:
                print(f" * {name} [{', '.join(types)}] {count} {end}{'s' if count > 1 else ''}")
        print()


_declare("topic", lambda node: node.get_topic_names_and_types())
_declare("service", lambda node: node.get_service_names_and_types())
_declare("action", get_action_names_and_types)
