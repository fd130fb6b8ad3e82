"""Attempts at other games that succeeded, as memory: what is retrieved of them for a task (MemCompiler's M)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.alfworld.game_commands import called_skill
from benchmarks.alfworld.things import classes_of
from benchmarks.alfworld.transcripts import as_one_text
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.task_memory import Entry, EntryKind
from memory_node.context.ways import Subgoal
from memory_node.domain.skill import SkillCall

# So many are retrieved for a task.
MOST_RETRIEVED = 3
# Skills that count; driving and opening doors depend on the other home and are left out.
_HANDLING = frozenset(
    {"PickupObject", "PutObject", "CleanObject", "HeatObject", "CoolObject", "SliceObject", "SwitchOn"}
)


@dataclass(frozen=True)
class Attempt:
    """One game that was won. goals: its subgoals in words; steps: what was done to things, over classes; text: all that
    was sent and printed, in order."""

    task: str
    goals: tuple[str, ...]
    steps: tuple[SkillCall, ...]
    text: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its subgoals."""
        return tuple(Subgoal.parse(goal).kind for goal in self.goals)

    @property
    def classes(self) -> frozenset[str]:
        """The classes that its subgoals name."""
        return frozenset().union(*(Subgoal.parse(goal).classes for goal in self.goals))


@dataclass(frozen=True)
class Attempts:
    """Those of one library."""

    all: tuple[Attempt, ...]

    @classmethod
    def of(
        cls,
        transcripts: Iterable[Mapping[str, Any]],
        kinds: ObjectCatalogue,
        goals_of: Callable[[str], Sequence[str]],
    ) -> Attempts:
        """Return the attempts of transcripts that were won. goals_of: reads a task's subgoals."""
        found = []
        for transcript in transcripts:
            goals = tuple(goals_of(transcript["task"])) if transcript["won"] else ()
            if goals:
                steps = tuple(_handled(transcript["turns"], kinds))
                found.append(Attempt(transcript["task"], goals, steps, as_one_text(transcript)))
        return cls(tuple(found))

    def like(self, goals: Sequence[str]) -> list[Entry]:
        """Return the attempts most like a task as entries: the same kinds of subgoals first, then the same classes."""
        wanted = Attempt("", tuple(goals), (), "")

        def likeness(number: int) -> tuple[bool, int, int]:
            one = self.all[number]
            return one.kinds == wanted.kinds, len(one.classes & wanted.classes), -number

        best = sorted(range(len(self.all)), key=likeness, reverse=True)[:MOST_RETRIEVED]
        # The most alike is the most worth.
        return [replace(self._entry(number), worth=1.0 / (rank + 1)) for rank, number in enumerate(best)]

    def other_goals(self, goals: Sequence[str], chance: random.Random) -> tuple[str, ...]:
        """Return the subgoals of another task, drawn at random; () where there is no other."""
        others = sorted({one.goals for one in self.all} - {tuple(goals)})
        return chance.choice(others) if others else ()

    def _entry(self, number: int) -> Entry:
        one = self.all[number]
        return Entry(
            f"trajectory|{number}",
            EntryKind.WAY,
            one.text,
            goal_kinds=frozenset(one.kinds),
            classes=one.classes,
            steps=one.steps,
        )


def _handled(turns: Iterable[tuple[str, str]], kinds: ObjectCatalogue) -> Iterable[SkillCall]:
    for command, _ in turns:
        call = called_skill(command)
        if call is not None and call.skill in _HANDLING:
            yield SkillCall(call.skill, tuple(classes_of(name, kinds)[0] for name in call.arguments))
