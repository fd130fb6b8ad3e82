"""What was said in a game as an attempt that the optimizer of memory reads: commands over kinds of things."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchmarks.alfworld.game_commands import GameAct, read_command
from benchmarks.alfworld.sentences import NOTHING_HAPPENS, label_of, read_places, read_sight
from memory_node.domain.skill import FailureReason
from memory_node.lessons.optimizer.attempt import Attempt, Deed, DeedKind

_KINDS = {
    GameAct.GO: DeedKind.TRAVEL,
    GameAct.OPEN: DeedKind.OPEN,
    GameAct.CLOSE: DeedKind.CLOSE,
    GameAct.LOOK: DeedKind.LOOK,
    GameAct.TAKE: DeedKind.TAKE,
    GameAct.PUT: DeedKind.PUT,
}


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
    read = read_command(command)
    if read is None:
        verb = way.partition(" ")[0] or "wait"
        return Deed(DeedKind.LOOK, verb, way or verb, text=command, reply=reply, failure=failed)
    kind = _KINDS.get(read.act, DeedKind.CHANGE)
    return Deed(kind, read.verb, way, label_of(read.thing), label_of(read.place), command, reply, failed, seen)


def kinds_in(command: str) -> str:
    """Return a command without the numbers that tell things of a kind apart."""
    return re.sub(r" \d+\b", "", command).strip()
