"""`memory-node understand`: what the planner makes of instructions, without a robot."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.open_planner import open_understander
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.understanding import Understanding
from memory_node.search.minilm import MiniLmEmbedder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="an instruction each (default: lines of standard input)"
    )
    parser.add_argument("--classes", default="", help="what memory holds: class names with commas (default: nothing)")
    parser.add_argument("--label-space", default=HOUSEHOLD, help="name or file of the label space (default: household)")
    parser.add_argument("--json", action="store_true", help="one JSON object an instruction")


def run(args: argparse.Namespace) -> int:
    """Read every text by itself; return the exit status.

    Raises:
        RobotMemoryError: the label space cannot be read.
    """
    kinds = load_catalogue(args.label_space)
    understander = open_understander(kinds, MiniLmEmbedder())
    home = home_of(filter(None, map(str.strip, args.classes.split(","))), kinds)
    for text in args.texts or _lines():
        understanding = understander.understand(text, home)
        print(json.dumps(as_row(text, understanding)) if args.json else _as_lines(text, understanding), flush=True)
    return 0


def home_of(classes: Iterable[str], kinds: ObjectCatalogue) -> HomeClasses:
    """Return a home that holds things of some classes, however those are spelt."""
    names = {kinds[name].name for name in classes}
    movable = frozenset(name for name in names if kinds[name].pickupable)
    return HomeClasses(movable, frozenset(names - movable))


def as_row(text: str, understanding: Understanding) -> dict[str, object]:
    """Return what was understood as one JSON object; goals as the planner's progress prints them."""
    question = understanding.question
    return {
        "text": text,
        "goals": [str(goal) for goal in understanding.goals],
        "source": understanding.source,
        "confidence": round(understanding.confidence, 4),
        "question": question.text if question is not None else "",
        "choices": list(question.choices) if question is not None else [],
        "refused": understanding.refused,
    }


def _as_lines(text: str, understanding: Understanding) -> str:
    if understanding.refused:
        return f"{text}\n    refused: {understanding.refused}"
    if understanding.question is not None:
        return f"{text}\n    asks: {understanding.question.text}"
    goals = "; ".join(map(str, understanding.goals))
    return f"{text}\n    {goals}  ({understanding.source}, {understanding.confidence:.2f})"


def _lines() -> Iterator[str]:
    if sys.stdin.isatty():
        print("one instruction a line; end with Ctrl-D", file=sys.stderr)
    yield from (line.rstrip("\n") for line in sys.stdin)
