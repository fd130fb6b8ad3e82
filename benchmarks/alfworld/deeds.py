"""What was said in a game as an attempt that the optimizer of memory reads: commands over kinds of things."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchmarks.alfworld.sentences import NOTHING_HAPPENS, label_of, read_places, read_sight
from memory_node.domain.skill import FailureReason
from memory_node.experience.optimizer.attempt import Attempt, Deed, DeedKind

_NAME = r"[a-z][a-z ]*? \d+"
# What a command does, whatever is left of it: a thing, and a place or what it is done with.
_COMMANDS = (
    (DeedKind.TRAVEL, re.compile(rf"(?P<verb>go to) (?P<place>{_NAME})")),
    (DeedKind.OPEN, re.compile(rf"(?P<verb>open) (?P<place>{_NAME})")),
    (DeedKind.CLOSE, re.compile(rf"(?P<verb>close) (?P<place>{_NAME})")),
    (DeedKind.LOOK, re.compile(rf"(?P<verb>examine|look at) (?P<place>{_NAME})")),
    (DeedKind.TAKE, re.compile(rf"(?P<verb>take) (?P<thing>{_NAME}) from (?P<place>{_NAME})")),
    (DeedKind.PUT, re.compile(rf"(?P<verb>move|put) (?P<thing>{_NAME}) (?:to|in/on|in|on) (?P<place>{_NAME})")),
    (DeedKind.CHANGE, re.compile(rf"(?P<verb>[a-z]+) (?P<thing>{_NAME})(?: with (?P<place>{_NAME}))?")),
)


def attempt_of_game(
    episode_id: str, task: str, text: str, turns: Iterable[tuple[str, str]], won: bool, stamp_ns: int = 0
) -> Attempt:
    """Return a game that was played as an attempt. text: its first text, which names the places."""
    places = tuple(dict.fromkeys(map(label_of, read_places(text))))
    return Attempt(episode_id, task, tuple(deed_of(*turn) for turn in turns), won, stamp_ns, places)


def deed_of(command: str, reply: str) -> Deed:
    """Return a command and its reply as a deed."""
    way = kinds_in(command)
    sight = read_sight(reply)
    seen = tuple(dict.fromkeys(label_of(name) for names in sight.contents.values() for name in names))
    failed = str(FailureReason.EXECUTION) if NOTHING_HAPPENS in reply.lower() else ""
    for kind, form in _COMMANDS:
        found = form.fullmatch(command)
        if found is not None:
            names = {key: label_of(name) for key, name in found.groupdict(default="").items() if key != "verb"}
            thing, place = names.get("thing", ""), names.get("place", "")
            return Deed(kind, found["verb"], way, thing, place, command, reply, failed, seen)
    verb = way.partition(" ")[0] or "wait"
    return Deed(DeedKind.LOOK, verb, way or verb, text=command, reply=reply, failure=failed)


def kinds_in(command: str) -> str:
    """Return a command without the numbers that tell things of a kind apart."""
    return re.sub(r" \d+\b", "", command).strip()
