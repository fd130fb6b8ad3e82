"""What the robot came upon in one instruction and memory does not hold, as its own skills told of it.

A planner whose memory knows only the map has nothing else; with an object memory it is what was found a moment ago.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.planner.belief import Belief
from memory_node.planner.goal_check import JudgedThing
from memory_node.world.state import Thing, WorldState


class FoundThings:
    """Things by name, with the states and supports that follow from the results of skills."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self._belief = Belief(WorldState(kinds))

    @property
    def things(self) -> Mapping[str, Thing]:
        """The things by name."""
        return self._belief.things

    @property
    def state(self) -> WorldState:
        """What is known of them."""
        return self._belief.state

    def add(self, thing: Thing) -> None:
        """Take in a thing that was found."""
        self._belief.add(thing)

    def add_held(self, thing: Thing) -> None:
        """Take in what the hand holds."""
        self.add(thing)
        self._belief.state = self._belief.state.holding(thing.id)

    def of_class(self, object_class: str) -> str:
        """Return the name of a thing of a class, "" where there is none."""
        same = (name for name, one in self.things.items() if folded(one.object_class) == folded(object_class))
        return next(same, "")

    def leave_out(self, name: str) -> None:
        """Forget a thing: memory holds it now, or it is not there."""
        self._belief.forget(name)

    def observe(self, result: SkillResult) -> None:
        """Take over what a skill has changed."""
        self._belief.observe(
            [replace(one, support_id=self._support(one.support_id, result.call)) for one in result.changes]
        )

    def _support(self, reference: str, call: SkillCall) -> str:
        """Return the name of what a robot calls "Bowl@1.2,3.4,0.8": the bowl of the call, or the only one there is."""
        if not reference or self._belief.named(reference) is not None:
            return reference
        object_class = folded(reference.partition("@")[0])
        asked = filter(None, map(self._belief.named, call.arguments))
        same = [thing.id for thing in asked if folded(thing.object_class) == object_class]
        same = same or [name for name, thing in self.things.items() if folded(thing.object_class) == object_class]
        return same[0] if len(same) == 1 else reference

    def judged(self) -> Iterator[JudgedThing]:
        """Yield the things as a check of goals sees them; their names are the ids."""
        for name, thing in self.things.items():
            yield JudgedThing(name, thing.object_class, thing.container, thing.states)


@dataclass
class Findings:
    """What attempts at one instruction leave for the next: things that were found and treated stay so."""

    _things: FoundThings | None = None

    def of(self, kinds: ObjectCatalogue) -> FoundThings:
        """Return what was found so far, nothing in the first attempt."""
        if self._things is None:
            self._things = FoundThings(kinds)
        return self._things
