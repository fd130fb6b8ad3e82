"""The state of one goal: beliefs, names of its parts, and excluded things."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from memory_node.domain.skill import SkillResult, StateChange
from memory_node.planner.belief import Belief
from memory_node.planner.goal import Mention
from memory_node.planner.planner import PlannedStep
from memory_node.world.state import Thing

Steps = Generator[PlannedStep, SkillResult, None]


class Setback(Exception):  # noqa: N818 - a goal that fails is an outcome, not an error of the program
    """A goal cannot be achieved; never leaves the planner."""


class Hopeless(Setback):
    """What fails has never worked, so that trying the goal again would bring nothing."""


class NothingFound(Setback):
    """Nothing that a goal speaks of was found anywhere."""


@dataclass
class GoalAttempt:
    """What is known while a goal is pursued.

    mentions: what the goal says of the things it names, by their names in `belief`. excluded: identities of unsuitable
    instances; avoided: of those that are tried last; taken: of finished ones. memory_ids: see PlanningContext.
    not_sought: names of parts that failed by themselves: others that memory knows will do, and no search.
    """

    belief: Belief
    mentions: dict[str, Mention] = field(default_factory=dict)
    excluded: set[str] = field(default_factory=set)
    avoided: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    memory_ids: Mapping[str, str] = field(default_factory=dict)
    not_sought: set[str] = field(default_factory=set)

    @property
    def ruled_out(self) -> set[str]:
        """Identities of excluded, avoided and finished things, found or remembered."""
        return self.excluded | self.avoided | self.taken

    @property
    def held(self) -> Thing | None:
        """What the hand is believed to hold."""
        return self.belief.things.get(self.belief.state.held or "")

    def observe(self, changes: Sequence[StateChange]) -> None:
        """Take over what a skill reports to have changed, and by which ids memory knows the things."""
        self.belief.observe(changes)
        for change in changes:
            self.belief.recognize(change.object_id, self.memory_ids.get(change.object_id, ""))

    def passed_over(self, name: str) -> frozenset[str]:
        """Return the ids at which a search for a part of the goal must not end. References by place are left out: a
        thing may have been carried away, and another one may lie there."""
        return frozenset(one for one in self.ruled_out | self.in_another_part(name) if "@" not in one)

    def exclude(self, thing: Thing) -> None:
        """Give up on one instance; the next search takes another."""
        self.excluded |= thing.identities
        self.belief.forget(thing.id)

    def in_another_part(self, name: str) -> set[str]:
        """Return the identities of movable things that the goal needs under other names: nothing is put into itself."""
        belief = self.belief
        others = [thing for role, thing in belief.things.items() if role in self.mentions and role != name]
        movable = [thing for thing in others if belief.kinds[thing.object_class].pickupable]
        return {identity for thing in movable for identity in thing.identities}
