"""What has been spoken of so far, in an instruction and in those before, so that later words can refer to it."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention


class Discourse:
    """The classes spoken of, the latest first, with what goals did to their things.

    focus: the class that "it" means now. place: where "there" is. said: something was asked for in this instruction.
    """

    def __init__(self) -> None:
        self._classes: list[str] = []
        self._states: dict[str, set[ObjectState]] = {}
        self._counts: dict[str, int] = {}
        self._all: set[str] = set()
        self._targets: list[tuple[str, ...]] = []
        self.focus = ""
        self.place: Mention | None = None
        self.said = False

    def copy(self) -> Discourse:
        """Return a discourse that goes on from here without changing this one."""
        other = Discourse()
        other._classes = list(self._classes)
        other._states = {name: set(states) for name, states in self._states.items()}
        other._counts = dict(self._counts)
        other._all = set(self._all)
        other._targets = list(self._targets)
        other.focus, other.place = self.focus, self.place
        return other

    @property
    def classes(self) -> list[str]:
        """Classes spoken of, the latest first."""
        return list(self._classes)

    def states_of(self, name: str) -> frozenset[ObjectState]:
        """Return the states that earlier goals give to the class."""
        return frozenset(self._states.get(name, ()))

    def count_of(self, name: str) -> int:
        """Return how many of the class were spoken of."""
        return self._counts.get(name, 1)

    def is_about_all(self, name: str) -> bool:
        """Return whether all things of the class were spoken of."""
        return name in self._all

    def last_sliced(self) -> str:
        """Return the class that was sliced last, "" when none was."""
        return next((name for name in self._classes if ObjectState.SLICED in self._states.get(name, ())), "")

    def together(self) -> tuple[str, ...]:
        """Return the classes that "them" and "both" mean now: those of the last command, or of the last two."""
        if not self._targets or self.count_of(self.focus) > 1 or self.focus not in self._targets[-1]:
            return (self.focus,) if self.focus else ()
        if len(self._targets[-1]) > 1:
            return self._targets[-1]
        return tuple(dict.fromkeys(name for targets in self._targets[-2:] for name in targets))

    def remark(self, names: Sequence[str]) -> None:
        """Take note of things that were only spoken of."""
        for name in names:
            self._mention(name)
            self.focus = name

    def end_command(self, goals: Sequence[Goal]) -> None:
        """Take note that these goals were asked for in one command."""
        self.said = True
        self._targets.append(tuple(dict.fromkeys(goal.target.object_class for goal in goals)))

    def add(self, goal: Goal, gained: Sequence[ObjectState], into_movable: bool) -> None:
        """Take over a goal. into_movable: its destination can be carried, and "it" then means that with its load."""
        target = goal.target.object_class
        for mention in (goal.container, goal.destination, goal.target):
            if mention is not None and mention.object_class:
                self._mention(mention.object_class)
        self.place = goal.destination or (goal.target if goal.kind is GoalKind.OPEN else self.place)
        if not target:
            return
        self._states.setdefault(target, set()).update(gained)
        (self._all.add if goal.every else self._all.discard)(target)
        self._counts[target] = max(goal.count, self._counts.get(target, 1))
        self.focus = target
        if goal.kind is GoalKind.STACK and goal.container is not None:
            self.focus = goal.container.object_class
        elif into_movable and goal.destination is not None:
            self.focus = goal.destination.object_class

    def _mention(self, name: str) -> None:
        if name in self._classes:
            self._classes.remove(name)
        self._classes.insert(0, name)
