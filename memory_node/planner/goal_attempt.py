"""The state of one goal: which things of the world play its parts, and which are excluded."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import ALL_SKILLS
from memory_node.planner.goal import Mention
from memory_node.planner.planner import PlannedStep
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing, WorldState

Steps = Generator[PlannedStep, SkillResult, None]


class Setback(Exception):  # noqa: N818 - a goal that fails is an outcome, not an error of the program
    """A goal cannot be achieved; never leaves the planner."""


class Hopeless(Setback):
    """What fails has never worked, so that trying the goal again would bring nothing."""


class NothingFound(Setback):
    """Nothing that a goal speaks of was found anywhere."""


class NothingElse(Hopeless, NothingFound):
    """What fails has never worked, and memory knows nothing else that would do."""


@dataclass
class GoalAttempt:
    """What is known while a goal is pursued.

    world: the instruction's one world. skills: names of those that the robot does. parts: the things that play the
    goal's parts ("target", "destination"), as they were last known. mentions: what the goal says of them. excluded:
    identities of unsuitable instances; avoided: of those that are tried last; taken: of finished ones. memory_ids: see
    PlanningContext. goes_to: where its target is to go, (x, y, z) in map, where that is known. not_sought: why parts
    failed by themselves or are full, by name: others that memory knows will do, and no search.
    """

    world: EpisodeWorld
    skills: frozenset[str] = ALL_SKILLS
    parts: dict[str, Thing] = field(default_factory=dict)
    mentions: dict[str, Mention] = field(default_factory=dict)
    excluded: set[str] = field(default_factory=set)
    avoided: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    memory_ids: Mapping[str, str] = field(default_factory=dict)
    goes_to: tuple[float, float, float] | None = None
    not_sought: dict[str, NothingFound] = field(default_factory=dict)

    @property
    def kinds(self) -> ObjectCatalogue:
        """What can be done with classes."""
        return self.world.state.kinds

    @property
    def ruled_out(self) -> set[str]:
        """Identities of excluded, avoided and finished things, found or remembered."""
        return self.excluded | self.avoided | self.taken

    @property
    def held(self) -> Thing | None:
        """What the hand is believed to hold."""
        return self.world.state.things.get(self.world.state.held or "")

    def find(self, name: str) -> Thing | None:
        """Return what plays a part, or the thing that a call names; None for neither. Memory may have come to know a
        thing under another name, and a part stays what it was until it is given up."""
        part = self.parts.get(name)
        if part is None:
            return self.world.state.named(name)
        names = (part.id, part.object_id, part.memory_id)
        found = next(filter(None, map(self.world.state.named, names)), None)
        self.parts[name] = found if found is not None else self.world.keep(part)
        return self.parts[name]

    def part(self, name: str) -> Thing:
        """Return what plays a part.

        Raises:
            KeyError: nothing does.
        """
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def roles(self, thing: Thing) -> list[str]:
        """Return the parts that a thing plays."""
        return [name for name in self.parts if self.part(name).id == thing.id]

    def follow(self, result: SkillResult) -> None:
        """Take over how a skill ended. What failed to be found keeps its part until another thing has it."""
        self.world.follow(result, self.memory_ids)
        for name, part in self.parts.items():
            found = self.world.state.named(part.id)
            self.parts[name] = found if found is not None else part

    def known(self) -> WorldState:
        """Return the world as far as a plan for the goal goes: its parts, what they are in or on, and the hand. What
        stands fixed is driven to itself, and so is what lies on top of a thing with a lid."""
        keys = [self.part(name).id for name in self.parts]
        state, things = self.world.state, dict[str, Thing]()
        for key in dict.fromkeys([*keys, state.held] if state.held else keys):
            things[key] = state.things[key]
            for thing, outer in state.around(key):
                lies_open = thing.inside is False and state.kinds[outer.object_class].lidded
                if lies_open or not state.kinds[thing.object_class].pickupable:
                    things[thing.id] = replace(thing, container="", inside=None)
                    break
                things[outer.id] = outer
        return replace(state, things=things, at=state.at if state.at in things else "")

    def passed_over(self, name: str) -> frozenset[str]:
        """Return the ids at which a search for a part of the goal must not end. References by place are left out: a
        thing may have been carried away, and another one may lie there."""
        return frozenset(one for one in self.ruled_out | self.in_another_part(name) if "@" not in one)

    def exclude(self, thing: Thing) -> None:
        """Give up on one instance; the next search takes another."""
        self.excluded |= thing.identities
        for name in [key for key, part in self.parts.items() if part.id == thing.id]:
            del self.parts[name]

    def in_another_part(self, name: str) -> set[str]:
        """Return the identities of movable things that the goal needs under other names: nothing is put into itself."""
        others = [self.part(role) for role in self.parts if role in self.mentions and role != name]
        movable = [thing for thing in others if self.kinds[thing.object_class].pickupable]
        return {identity for thing in movable for identity in thing.identities}
