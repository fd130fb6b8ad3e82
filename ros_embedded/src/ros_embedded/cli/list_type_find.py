"""`list`, `type` and `find` of topics, services and actions."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ros_embedded.cli.command import NamesAndTypes, argument, command, flag, is_hidden, known_types
from ros_embedded.rclpy.action import get_action_names_and_types


def _declare(kind: str, names_and_types: Callable[[Any], NamesAndTypes]) -> None:
    counts = (flag("-v", "--verbose", help="also show how many publish and subscribe"),) if kind == "topic" else ()
    choice = (
        flag("-c", f"--count-{kind}s", dest="count", help="only show how many there are"),
        flag(f"--include-hidden-{kind}s", dest="hidden", help=f"hidden {kind}s too"),
    )

    def chosen(found: NamesAndTypes, arguments: argparse.Namespace) -> NamesAndTypes:
        return [(name, types) for name, types in sorted(found) if arguments.hidden or not is_hidden(name)]

    def show(shown: NamesAndTypes, arguments: argparse.Namespace, show_types: bool) -> None:
        if arguments.count:
            print(len(shown))
            return
        for name, types in shown:
            print(f"{name} [{', '.join(types)}]" if show_types else name)

    @command(
        f"{kind} list",
        f"Output a list of available {kind}s",
        flag("-t", "--show-types", help="also show the types"),
        *counts,
        *choice,
    )
    def _list(node: Any, arguments: argparse.Namespace) -> None:
        shown = chosen(names_and_types(node), arguments)
        if counts and arguments.verbose and not arguments.count:
            _show_counts(node, shown)
        else:
            show(shown, arguments, arguments.show_types)

    @command(f"{kind} type", f"Print the type of a {kind}", argument("name"))
    def _type(node: Any, arguments: argparse.Namespace) -> None:
        print("\n".join(known_types(kind, names_and_types(node), arguments.name)))

    @command(f"{kind} find", f"Output a list of {kind}s of a given type", argument("type"), *choice)
    def _find(node: Any, arguments: argparse.Namespace) -> None:
        found = [(name, types) for name, types in names_and_types(node) if arguments.type in types]
        show(chosen(found, arguments), arguments, False)


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
