"""Instructions of several goals for training: single sentences of one home, joined."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from memory_node.planner.reading.trained_reader import NOTHING, SEVERAL
from training.instructions.augment import Wording
from training.instructions.corpus import Example, Labels, Task
from training.instructions.inflection import capital

_JOINTS = (". ", ". ", ", then ", " and then ", " and ", ", and ", ", ", "; ", ". Then ", ". After that, ", ". Also ")
_PARTS, _WEIGHTS = (1, 2, 3, 4), (0.3, 0.42, 0.2, 0.08)
_REMARK = 0.12  # share of instructions with a remark before or behind them


class SeveralGoals:
    """Joins sentences about one home; every choice comes from `generator`."""

    def __init__(self, wording: Wording, tasks: Sequence[Task], generator: random.Random) -> None:
        self._wording = wording
        self._tasks = tasks
        self._random = generator
        self._homes: dict[frozenset[str], list[Task]] = {}
        for task in tasks:
            self._homes.setdefault(task.fixtures, []).append(task)

    def example(self) -> Example:
        """Return one to four sentences as one instruction: one goal, or several."""
        count = self._random.choices(_PARTS, _WEIGHTS)[0]
        home = self._homes[self._random.choice(self._tasks).fixtures]
        parts = [self._part(self._random.choice(home)) for _ in range(count)]
        text = parts[0].text.strip().rstrip(".")
        for part in parts[1:]:
            joint = self._random.choice(_JOINTS)
            said = part.text.strip().rstrip(".")
            text += joint + (capital(said) if joint == ". " else said[:1].lower() + said[1:])
        goals = [part.labels for part in parts if part.labels.kind != NOTHING]
        labels = goals[0] if len(set(goals)) == 1 else Labels(SEVERAL if goals else NOTHING)
        objects = frozenset().union(*(part.objects for part in parts))
        whole = Example(text, labels, objects, parts[0].fixtures.union(*(part.fixtures for part in parts)))
        return self._wording.distracted(whole) if self._random.random() < _REMARK else whole

    def _part(self, task: Task) -> Example:
        """Return a task in people's words, in people's words changed, or in ours; or a short command."""
        people = [one for one in task.examples() if self._wording.names_what_is_lit(one)] or [self._wording.goal(task)]
        said = self._random.choice(people)
        choices: tuple[Callable[[], Example], ...] = (
            lambda: said,
            lambda: self._wording.reworded(said),
            lambda: self._wording.goal(task),
            lambda: self._wording.told(task),
            lambda: self._wording.plain(task),
            lambda: self._wording.command(task),
            lambda: self._wording.command(task),
        )
        return self._random.choice(choices)()
