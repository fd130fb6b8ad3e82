"""What one episode believes. Its brief state tells this in words; nothing is read back from the words.

Where things are and in which state is one `WorldState`; beside it stands what is of the episode, not of the world:
calls that failed, and how far the task is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.brief_state import BriefState
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.world.facts import truth
from memory_node.world.skills import bound
from memory_node.world.state import Thing, WorldState

# Most items that the brief state tells of places, and of facts: those of what was handled last.
MOST_TOLD = 10
_OF_THE_HAND = frozenset({Predicate.HOLDING, Predicate.HOLDING_TOOL, Predicate.HAND_EMPTY})


@dataclass(frozen=True)
class Failed:
    """How a call failed: so many times in a row, for one reason."""

    reason: FailureReason
    times: int = 1


@dataclass(frozen=True)
class Beliefs:
    """world: the things under their names in this episode, what was handled last behind the others. failures: of calls,
    since one with their things succeeded. progress: the brief state of goal and subgoals alone. notes: what has become
    of older subgoals.
    """

    world: WorldState = field(default_factory=lambda: WorldState(ObjectCatalogue("nothing", ()), held=None, at=None))
    failures: Mapping[SkillCall, Failed] = field(default_factory=dict)
    progress: BriefState = field(default_factory=BriefState)
    notes: tuple[str, ...] = ()

    def truth(self, fact: Fact, call: SkillCall) -> bool | None:
        """Return whether a fact about the arguments of a call is believed; None: nobody knows."""
        things = self._things(fact, call)
        return None if things is None else truth(fact, things, self.world)

    def evidence(self, fact: Fact, call: SkillCall) -> str:
        """Return the items of the brief state by which a fact about the arguments of a call is believed."""
        name = next((thing.id for thing in self._things(fact, call) or ()), "")
        if fact.predicate is Predicate.NEAR:
            return out_of_reach(name) if name in self.world.apart else self.robot_place
        if fact.predicate in _OF_THE_HAND:
            return self.hand
        thing = self.world.things.get(name)
        return "; ".join(_states(thing)) if thing is not None else ""

    def _things(self, fact: Fact, call: SkillCall) -> Sequence[Thing] | None:
        skill = SKILLS.get(call.skill)
        binding = bound(skill, self.world, call) if skill is not None else {}
        return [binding[name] for name in fact.arguments] if all(name in binding for name in fact.arguments) else None

    def failure(self, call: SkillCall) -> str:
        """Return the item that tells of a call that failed."""
        failed = self.failures[call]
        return f"{call} failed{f' {failed.times} times' if failed.times > 1 else ''}: {failed.reason}"

    @property
    def hand(self) -> str:
        """The item that tells what the hand holds, "" where that is not known."""
        held = self.world.held
        return "" if held is None else f"the hand holds {held}" if held else "the hand is empty"

    @property
    def robot_place(self) -> str:
        """The item that tells at what the robot stands."""
        return f"the robot stands at {self.world.at or 'nothing known'}"

    def place(self, name: str) -> str:
        """Return the item that tells what a thing is in or on, "" where that is not known."""
        thing = self.world.things.get(name)
        if thing is None or not thing.container or name == self.world.held:
            return ""
        return f"{name} is {'inside' if thing.inside else 'in or on'} {thing.container}"

    def brief(self) -> BriefState:
        """Return the brief state that tells it."""
        world = self.world
        places = tuple(filter(None, map(self.place, world.things)))
        apart = sorted(world.apart - {world.at, world.held})
        facts = (
            *self.notes,
            *(text for thing in world for text in _states(thing)),
            *map(out_of_reach, apart),
            *(f"{name} is close by" for name in sorted(world.within)),
            *map(self.failure, self.failures),
        )
        agent = tuple(filter(None, (self.hand, self.robot_place)))
        return replace(self.progress, locations=places[-MOST_TOLD:], agent=agent, facts=facts[-MOST_TOLD:])


def out_of_reach(name: str) -> str:
    """Return the item that tells of a thing that the robot could not reach from where it stands."""
    return f"{name} is out of reach"


def _states(thing: Thing) -> list[str]:
    return [f"{thing.id} is {state}" for state in sorted(map(str, thing.states))]
