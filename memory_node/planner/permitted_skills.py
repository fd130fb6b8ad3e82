"""Which skills an instruction permits, and which things they may take: what changes a thing must have been asked for.
And which calls would only repeat what made no progress.

A label, a note or a reply that a stranger wrote may tell a language model to break a mug. The goals are read from the
instruction alone, so no such text adds a skill or a thing here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import GOALS, SKILLS, GoalKind, Skill
from memory_node.episodes.class_actions import repeated
from memory_node.planner.goal import Goal

_FREE = frozenset({"PickupObject", "OpenObject", "CloseObject"})
# skill -> the goals that ask for it; all other skills only move the robot and what it carries, or open and close.
_ASKED_BY: dict[str, frozenset[GoalKind]] = {
    skill: asking
    for skill in SKILLS.keys() - _FREE
    if (asking := frozenset(kind for kind, goal in GOALS.items() if skill in (*goal.skills, *goal.permits)))
}


def wants_pieces(goal: Goal, kinds: ObjectCatalogue) -> bool:
    """Return whether a goal needs a cut before: it is about pieces, or its treatment is, such as toasting."""
    treatment = kinds.treatment(goal.treatment)
    return goal.sliced or (treatment is not None and treatment.pieces)


def licensed_skills(goals: Sequence[Goal], kinds: ObjectCatalogue) -> tuple[Skill, ...]:
    """Return the skills that may serve these goals, in the library's order; without goals those that can be undone."""
    if not goals:
        return tuple(skill for skill in SKILLS.values() if skill.undoable)
    wanted = {goal.kind for goal in goals}
    if any(wants_pieces(goal, kinds) for goal in goals):
        wanted.add(GoalKind.SLICE)
    return tuple(skill for skill in SKILLS.values() if _ASKED_BY.get(skill.name, frozenset(wanted)) & wanted)


_TAKES = frozenset(
    {"PickupObject", "SliceObject", "BreakObject", "ThrowObject", "CleanObject", "HeatObject", "CoolObject"}
)


@dataclass(frozen=True)
class PlanAudit:
    """The things that an instruction's goals permit a plan to take. Without goals nothing is refused."""

    goals: tuple[Goal, ...]
    kinds: ObjectCatalogue

    def objection(self, call: SkillCall, object_class: str) -> str:
        """Return why a call handles a thing that the instruction does not name, "" if it is permitted.

        object_class: of the call's first argument, "" where that is not known.
        """
        if not self.goals or call.skill not in _TAKES or not object_class:
            return ""
        if call.skill not in ("SliceObject", "PickupObject") and folded(object_class) in self._cut:
            return f"{call}: the instruction asks for pieces of {object_class}"
        if folded(object_class) in self._handled:
            return ""
        return f"{call}: no goal is about {object_class}"

    @cached_property
    def _cut(self) -> frozenset[str]:
        """The classes of which all goals want pieces only: a whole one is carried to where it is cut, and no more."""
        wanted: dict[str, bool] = {}
        for goal in self.goals:
            in_pieces = goal.sliced or goal.kind is GoalKind.SLICE
            for name in goal.target.candidates:
                wanted[name] = wanted.get(name, True) and in_pieces and bool(self.kinds[name].slices)
        return frozenset(folded(name) for name, in_pieces in wanted.items() if in_pieces)

    @cached_property
    def _handled(self) -> frozenset[str]:
        named = {name for goal in self.goals for mention in goal.mentions for name in mention.candidates}
        pieces = {form for name in named for form in (self.kinds[name].slices, self.kinds.whole(name))}
        return frozenset(folded(name) for name in named | pieces | self._used() if name)

    def _used(self) -> set[str]:
        """Return the tools and vessels of the treatments that the goals may take."""
        treatments = [one for goal in self.goals for one in self.kinds.treatments_of(goal.kind)]
        if any(goal.treatment or goal.sliced for goal in self.goals):
            treatments += self.kinds.treatments
        return {name for one in treatments for name in (*one.tools, *one.vessels)}


# Times that a call may be made while nothing changes: going back to a thing once is no loop.
_MOST_TIMES = 2
# Last steps in which loops are looked for; the longest loop has six.
_WINDOW = 12


class LoopGuard:
    """Follows the steps of one instruction. It holds back calls that would close a loop, and calls that were made twice
    since the home last reached a new state. Putting a thing back where it was is no new state. A drive counts for
    itself alone: it makes no other call new, and none a repetition."""

    def __init__(self) -> None:
        self._taken: list[SkillCall] = []
        self._since_change: Counter[SkillCall] = Counter()
        self._states: set[Hashable] = set()

    def note(self, call: SkillCall, state: Hashable) -> None:
        """Take in a step over names. state: what is believed after it, but for where the robot stands."""
        if state not in self._states:
            self._since_change.clear()
        self._states.add(state)
        self._since_change[call] += 1
        if call.skill != "GoToObject":
            self._taken = [*self._taken[-_WINDOW:], call]

    def holds(self, call: SkillCall) -> bool:
        """Return whether a call is not to be made now."""
        is_loop = call.skill != "GoToObject" and bool(repeated([*self._taken, call]))
        return is_loop or self._since_change[call] >= _MOST_TIMES
