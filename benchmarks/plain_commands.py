"""Plain commands and sessions of our own: what people say to a robot, whatever its memory holds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.understanding import Understander

_PREPARATION = (GoalKind.FETCH, GoalKind.FIND)
_TREATING = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL, GoalKind.SLICE)


def effects(goals: Sequence[Goal]) -> tuple[str, ...]:
    """Return lines such as "clean Apple", "2 Pen at Drawer", "Apple near Bowl", "examine Book with DeskLamp".

    Cutting that the words only imply ("put a slice of bread on the table") counts as cutting, and what is fetched or
    found only to be used by a later goal is left out.
    """
    lines: list[str] = []
    for index, goal in enumerate(goals):
        used_later = any(str(goal.target) == str(later.target) for later in goals[index + 1 :])
        if not (goal.kind in _PREPARATION and used_later):
            lines += _of_one(goal)
    return cut_once(lines)


def cut_once(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines without those that cut a thing again: peeling and slicing are one effect."""
    cut = [line.split()[-1] if line.startswith("slice ") else line for line in lines]
    return tuple(
        line for index, line in enumerate(lines) if index == cut.index(cut[index]) or not line.startswith("slice ")
    )


def _of_one(goal: Goal) -> list[str]:
    every = goal.every and not goal.sliced  # all pieces of what was cut are the thing
    quantity = "" if goal.asked else "all " if every else f"{goal.count} " if goal.count > 1 else ""
    done = _done(goal, quantity)
    if goal.kind is GoalKind.SLICE:
        return done
    moved = str(goal.target)
    lines = [*([f"slice {moved}"] if goal.sliced else []), *done]
    if goal.container is not None:
        lines.append(f"{moved} at {goal.container}")
        moved = str(goal.container)
    if goal.destination is not None:
        lines.append(f"{quantity}{moved} {_where(goal.destination)}")
    return lines


def _done(goal: Goal, quantity: str) -> list[str]:
    """Return what is done with the target besides placing it. The quantity is told once, where it is placed."""
    if goal.kind in (GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK):
        return []
    verb = GOALS[goal.kind].comes_to or goal.kind
    if verb in _TREATING:
        return [f"{verb} {'' if goal.destination is not None else quantity}{goal.target}"]
    if goal.kind is GoalKind.EXAMINE:
        return [f"examine {goal.target} with {goal.light}"]
    asked = goal.asked if goal.kind is GoalKind.TELL else ""
    return [" ".join(word for word in (str(goal.kind), quantity.strip(), str(goal.target), asked) if word)]


def _where(destination: Mention) -> str:
    if destination.original_place:
        return "back"
    return f"{'near' if destination.beside else 'at'} {destination}"


PARTS = ("development", "further", "final", "fresh")
SESSION_PARTS = ("development", "further", "final", "fresh")
CONDITIONS = ("known", "unknown", "empty")
_CHECKS = Path(__file__).parent / "checks"
_FILES = ("plain_commands", "plain_commands_further")
_QUESTION = ("question",)
_CLASS = re.compile(r"[A-Z]\w+")


@dataclass(frozen=True)
class Turn:
    """What is said, and the effects that it asks for; any of `wanted` is right."""

    text: str
    group: str
    wanted: tuple[tuple[str, ...], ...]

    @property
    def classes(self) -> frozenset[str]:
        """Every class that an answer may handle."""
        return frozenset(name for lines in self.wanted for line in lines for name in _CLASS.findall(line))


@dataclass(frozen=True)
class Outcome:
    """How a command was read. wrong: it handles a thing that no word names; asked: a question where none is due."""

    turn: Turn
    read: tuple[str, ...]
    ms: float

    @property
    def right(self) -> bool:
        """Whether it is read as one of the readings that are right."""
        return self.read in self.turn.wanted

    @property
    def asked(self) -> bool:
        """Whether a question was asked where the words leave nothing open."""
        return self.read == _QUESTION and not self.right

    @property
    def wrong(self) -> bool:
        """Whether a thing is handled that is in no right reading."""
        return bool(frozenset(name for line in self.read for name in _CLASS.findall(line)) - self.turn.classes)


def load_commands(part: str, kinds: ObjectCatalogue) -> list[Turn]:
    """Return a part of checks/plain_commands*.yaml."""
    files = (yaml.safe_load((_CHECKS / f"{name}.yaml").read_text(encoding="utf-8")) for name in _FILES)
    rows = next(file[part] for file in files if part in file)
    return [_turn(row, row["group"], kinds) for row in rows]


def load_sessions(part: str, kinds: ObjectCatalogue) -> list[list[Turn]]:
    """Return a part of checks/sessions.yaml: instructions that follow one another."""
    rows = yaml.safe_load((_CHECKS / "sessions.yaml").read_text(encoding="utf-8"))[part]
    return [[_turn(turn, row["group"], kinds) for turn in row["turns"]] for row in rows]


def home_in(condition: str, turn: Turn, kinds: ObjectCatalogue) -> HomeClasses:
    """Return what memory holds: one thing of each everyday class, all but those that are named, or nothing."""
    if condition == "empty":
        return HomeClasses()
    hidden = turn.classes if condition == "unknown" else frozenset()
    here = [kind for kind in kinds if kind.everyday and kind.name not in hidden]
    movable = frozenset(kind.name for kind in here if kind.pickupable)
    return HomeClasses(movable, frozenset(kind.name for kind in here) - movable)


def measure_commands(
    turns: Sequence[Turn],
    understander: Understander,
    kinds: ObjectCatalogue,
    read_one: Callable[[], object] = lambda: None,
) -> list[Outcome]:
    """Read every command under every condition, in the order of CONDITIONS. read_one: called after each."""
    outcomes = []
    for condition in CONDITIONS:
        for turn in turns:
            outcomes.append(_read(turn, understander, home_in(condition, turn, kinds), Conversation()))
            read_one()
    return outcomes


def measure_sessions(
    sessions: Iterable[Sequence[Turn]], understander: Understander, kinds: ObjectCatalogue
) -> list[list[Outcome]]:
    """Read sessions with every everyday class known."""
    outcomes = []
    for session in sessions:
        conversation = Conversation()
        outcomes.append([_read(turn, understander, home_in("known", turn, kinds), conversation) for turn in session])
    return outcomes


def rows_of_commands(outcomes: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    """Yield a row for each condition."""
    number = len(outcomes) // len(CONDITIONS)
    for index, condition in enumerate(CONDITIONS):
        yield {"condition": condition, **_figures(outcomes[index * number : (index + 1) * number])}


def row_of_sessions(sessions: Sequence[Sequence[Outcome]]) -> dict[str, Any]:
    """Return one row for all sessions; one is right when each of its turns is."""
    right = float(np.mean([all(one.right for one in session) for session in sessions]))
    turns = [one for session in sessions for one in session]
    return {"sessions": len(sessions), "sessions_right": round(right, 4), **_figures(turns)}


def mistakes(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a text for each command that was misread."""
    return [
        f"{one.turn.text}\n    wanted {'; '.join(one.turn.wanted[0])}\n    read   {'; '.join(one.read)}"
        for one in outcomes
        if not one.right
    ]


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    shares = {name: float(np.mean([getattr(one, name) for one in outcomes])) for name in ("right", "wrong", "asked")}
    rounded = {name: round(share, 4) for name, share in shares.items()}
    return {"commands": len(outcomes), **rounded, "ms_p50": round(float(np.median([one.ms for one in outcomes])), 3)}


def _turn(row: Mapping[str, Any], group: str, kinds: ObjectCatalogue) -> Turn:
    wanted = (row["want"], *row.get("or", ()))
    return Turn(row["say"], group, tuple(cut_once([_by_kind(line, kinds) for line in lines]) for lines in wanted))


def _by_kind(line: str, kinds: ObjectCatalogue) -> str:
    """Return an effect with the kind of goal in place of how it is done: "heat Egg" for "boil Egg"."""
    done, _, rest = line.partition(" ")
    goals = {name: str(one.goal) for one in reversed(kinds.treatments) for name in (*one.verbs, one.name)}
    return f"{goals[done]} {rest}" if rest and done in goals else line


def _read(turn: Turn, understander: Understander, home: HomeClasses, conversation: Conversation) -> Outcome:
    started = time.perf_counter()
    found = understander.understand(turn.text, home, conversation=conversation)
    spent = 1e3 * (time.perf_counter() - started)
    return Outcome(turn, effects(found.goals) if found.goals and not found.question else _QUESTION, spent)
