"""What has been spoken of so far, in an instruction and in those before, so that later words can refer to it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention

_PLACING = frozenset({GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK})


@dataclass
class Discourse:
    """The classes spoken of, the latest first, with what goals did to their things.

    focus: the class that "it" means now. place: where "there" is. said: something was asked for in this instruction.
    topic: the class that stands before its command ("the vase, you put ..."). unknown: what "it" means now is called
    so, and nobody knows what that is. is_open: the last answer leaves open which movable thing "it" is. persons: who
    was spoken of, in small letters, and by which pronoun, "" where by none; named_now: those of this instruction.
    one_of: the class of which one of several was meant. off: by class, what its thing is told not to be on or in.
    states, counts: by class, what goals gave it and how many were meant; whole: classes of which
    all were; pieces: classes of which pieces were meant last; guessed: classes that only a description stands for;
    targets: of the commands so far; earlier: the number of those of earlier instructions.
    """

    classes: list[str] = field(default_factory=list)
    states: dict[str, set[ObjectState]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    pieces: set[str] = field(default_factory=set)
    guessed: set[str] = field(default_factory=set)
    targets: list[tuple[str, ...]] = field(default_factory=list)
    earlier: int = 0
    focus: str = ""
    place: Mention | None = None
    said: bool = False
    topic: str = ""
    unknown: str = ""
    is_open: bool = False
    one_of: str = ""
    off: dict[str, tuple[str, ...]] = field(default_factory=dict)
    persons: dict[str, str] = field(default_factory=dict)
    named_now: tuple[str, ...] = ()

    def copy(self) -> Discourse:
        """Return a discourse that goes on from here without changing this one; nothing is asked for in it yet."""
        return replace(copy.deepcopy(self), said=False, topic="", named_now=(), earlier=len(self.targets))

    def note_persons(self, names: Iterable[str]) -> None:
        """Take note of whom an instruction names."""
        for name in map(str.lower, names):
            self.persons.setdefault(name, "")
            self.named_now = tuple(dict.fromkeys((*self.named_now, name)))

    def person(self, pronoun: str) -> str:
        """Return the only person who can be meant by "him" or "her": named in this instruction, else in those before;
        "" for none or several."""
        said = self.named_now or tuple(self.persons)
        meant = [name for name in said if self.persons[name] in ("", pronoun)]
        if len(meant) != 1:
            return ""
        self.persons[meant[0]] = pronoun
        return meant[0]

    def states_of(self, name: str) -> frozenset[ObjectState]:
        """Return the states that earlier goals give to the class."""
        return frozenset(self.states.get(name, ()))

    def count_of(self, name: str) -> int:
        """Return how many of the class were spoken of."""
        return self.counts.get(name, 1)

    def last_sliced(self) -> str:
        """Return the class that was sliced last, "" when none was."""
        return next((name for name in self.classes if ObjectState.SLICED in self.states.get(name, ())), "")

    def named_before(self) -> frozenset[str]:
        """Return the classes that "everything else" leaves out: those of this instruction, or else of the last."""
        commands = self.targets[self.earlier :] or self.targets[-1:]
        return frozenset(name for targets in commands for name in targets)

    def asked_for(self, names: Iterable[str]) -> bool:
        """Return whether this instruction has asked for something with a thing of some classes already."""
        return any(set(names) & set(targets) for targets in self.targets[self.earlier :])

    def other(self) -> str:
        """Return the class that "the other one" means: of what was handled last, not of where it was put."""
        last = self.targets[-1] if self.targets else ()
        return last[0] if len(last) == 1 and last[0] else self.focus

    def together(self) -> tuple[str, ...]:
        """Return the classes that "them" and "both" mean now: those of the last command, or of the last two; what was
        named since in the same instruction alone: "not the tissues, put those back"."""
        if self.topic and self.topic == self.focus and not self.said:
            return (self.focus,)
        if not self.targets or self.focus not in self.targets[-1]:
            return (self.focus,) if self.focus else ()
        if len(self.targets[-1]) > 1:
            return self.targets[-1]
        if self.count_of(self.focus) > 1 or self.focus in self.whole:
            return (self.focus,)
        if len(self.targets[-2:][0]) > 1:
            return ()  # several things were spoken of before the last one: they, or all?
        return tuple(dict.fromkeys(name for targets in self.targets[-2:] for name in targets))

    def remark(self, names: Sequence[str]) -> None:
        """Take note of things that were only spoken of; of several, "them" means all."""
        for name in names:
            self._mention(name)
            self.focus, self.unknown, self.is_open = name, "", False
        if len(set(names)) > 1:
            self.targets.append(tuple(dict.fromkeys(names)))

    def take_over(self, goals: Sequence[Goal], kinds: ObjectCatalogue) -> None:
        """Take over the goals of one command, with what they do to their things."""
        for goal in goals:
            self.add(goal, _gained(goal, kinds), goal.kind in _PLACING and is_movable(goal.destination, kinds))
        places = (goal.destination for goal in goals if goal.destination is not None)
        self.note_persons(one.text for one in places if one.object_class == kinds.recipient and one.text[:1].isupper())
        self.end_command(goals)

    def take_back(self, goal: Goal, kinds: ObjectCatalogue) -> None:
        """Take back what a goal would have done to its thing, since it failed: who speaks of the thing means it as it
        is."""
        self.states.get(goal.target.object_class, set()).difference_update(_gained(goal, kinds))

    def end_command(self, goals: Sequence[Goal]) -> None:
        """Take note that these goals were asked for in one command. What a thing is put beside counts as well: "put the
        clock next to the vase and bring me both"."""
        self.said = True
        beside = [goal.destination for goal in goals if goal.destination is not None and goal.destination.beside]
        named = [*(goal.target for goal in goals), *beside]
        self.targets.append(tuple(dict.fromkeys(one.object_class for one in named)))

    def add(self, goal: Goal, gained: Sequence[ObjectState], into_movable: bool) -> None:
        """Take over a goal. into_movable: its destination can be carried, and "it" then means that with its load."""
        target = goal.target.object_class
        for mention in (goal.container, goal.destination, goal.target):
            if mention is not None and mention.object_class:
                self._mention(mention.object_class)
                (self.guessed.add if mention.guessed else self.guessed.discard)(mention.object_class)
        self.place = goal.destination or (goal.target if goal.kind is GoalKind.OPEN else self.place)
        if goal.kind is GoalKind.GO and not goal.target.candidates:  # "go to the bedroom and leave the book there"
            self.place = replace(goal.target, room=goal.target.text)
        if not target:
            return
        self.states.setdefault(target, set()).update(gained)
        self.off[target] = goal.target.off
        self.note_quantity(target, goal.count, goal.every)
        (self.pieces.add if goal.sliced else self.pieces.discard)(target)
        self.focus, self.unknown, self.is_open = target, "", False
        if into_movable and goal.destination is not None:
            self.focus = goal.destination.object_class

    def note_quantity(self, name: str, count: int, every: bool) -> None:
        """Take note of how many of a class are spoken of."""
        (self.whole.add if every else self.whole.discard)(name)
        self.counts[name] = max(count, self.counts.get(name, 1))

    def _mention(self, name: str) -> None:
        if name in self.classes:
            self.classes.remove(name)
        self.classes.insert(0, name)


def is_movable(mention: Mention | None, kinds: ObjectCatalogue) -> bool:
    """Return whether a mention is of a thing that can be carried, and not of what is beside it."""
    if mention is None or mention.beside or not mention.object_class:
        return False
    return kinds[mention.object_class].pickupable


def _gained(goal: Goal, kinds: ObjectCatalogue) -> tuple[ObjectState, ...]:
    """Return the states that a goal gives to its thing, where it is put included."""
    treatment = kinds.treatment(goal.treatment) or kinds.usual_treatment(goal.kind)
    gained, place = treatment.states if treatment is not None else (), goal.destination
    cools = place is not None and bool(place.object_class) and kinds[place.object_class].can(Property.COOLS)
    return (*gained, ObjectState.COLD) if cools else gained
