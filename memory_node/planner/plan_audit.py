"""Checks a language model's calls against the goals: no other things may be taken into the hand. The goals have passed
the audit of words (language/audit.py), so they name only things that the words name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.skill import SkillCall
from memory_node.planner.goal import Goal

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
