"""The things that a language model's calls may name, their believed states, and the calls that are possible now. Names
are memory's own ("Mug 2"): a small model spells them right, they cost a token or two, and they contain no text from
outside. Each name stands for a reference that the skills take.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.held_object import HeldObject
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.skill_library import Skill
from memory_node.domain.states import ObjectState
from memory_node.planner.needed_classes import NeededClasses
from memory_node.planner.prompt_objects import prompt_objects
from memory_node.planner.world_prompt import world_lines
from memory_node.world.episode import EpisodeWorld
from memory_node.world.skills import possible
from memory_node.world.state import Thing, WorldState

# Least value of a thing whose existence is doubtful: it can still be looked at.
_LEAST_VALUE = 0.01
# Factor on a call's value for each of its things that the instruction does not name.
_VALUE_BESIDE = 0.2
# Factor on a call's value for each repetition.
_VALUE_OF_AGAIN = 0.2
# Factor on the value of taking up what is where a goal wants it.
_VALUE_OF_UNDOING = 0.02


@dataclass
class KnownWorld:
    """The part of an instruction's world that a model is told of; `refresh` follows memory.

    about: the classes that the instruction speaks of, the most important first. most: how many things are named,
    besides what they lie on. brief: only things of the instruction, things that the skills need, and their supports are
    named. handled: identities of things that were handled before; of the things of a class these are named first.
    state: these things, under their names.
    """

    episode: EpisodeWorld
    about: tuple[str, ...]
    skills: tuple[Skill, ...]
    most: int = 40
    brief: bool = False
    handled: Collection[str] = frozenset()
    state: WorldState = field(init=False)
    _needed: NeededClasses = field(init=False)
    _listed: set[str] = field(default_factory=set)
    _places: dict[str, str] = field(default_factory=dict)  # an area's name -> its position as Explore takes it
    _made: Counter[tuple[str, ...]] = field(default_factory=Counter)  # by skill and names
    _failed: set[SkillCall] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.state = self.episode.state
        self._needed = NeededClasses(self.kinds, self.skills)

    @property
    def kinds(self) -> ObjectCatalogue:
        """What can be done with classes."""
        return self.episode.state.kinds

    def refresh(self, scene: SceneSnapshot, held: HeldObject | None = None) -> None:
        """Take over what memory believes now. held: what it holds to be in the hand."""
        self._places = {area.name: f"{area.position[0]:.2f},{area.position[1]:.2f}" for area in scene.areas}
        everything = self.episode.refresh(scene, held)
        in_the_way = held is not None and folded(held.object_class) not in map(folded, self.about)
        fixtures = self._needed.fixtures(self.brief, in_the_way)
        chosen = prompt_objects(
            everything, self.about, fixtures, self._listed, self.most, self.brief, frozenset(self.handled)
        )
        self._listed.update(chosen)
        listed = {name: everything.things[name] for name in chosen}
        things = {
            name: thing if thing.container in listed else replace(thing, container="", inside=None)
            for name, thing in listed.items()
        }
        at = everything.at if everything.at is None or everything.at in things else ""
        self.state = replace(everything, things=things, at=at)

    def admissible(self) -> dict[str, SkillCall]:
        """Return every call that can be made now and changes something, as it is written, and for the robot."""
        calls: dict[str, SkillCall] = {}
        for skill in self.skills:
            if skill.name == "Explore":
                calls.update((f"Explore({name})", SkillCall("Explore", (name,))) for name in self.unknown_classes())
        for named in possible(self.state, self.skills):
            call = SkillCall(named.skill, tuple(self.things[name].call_name for name in named.arguments))
            if call not in self._failed:
                calls[str(named)] = call
        return calls

    def to_open_first(self, calls: Mapping[str, SkillCall]) -> dict[str, SkillCall]:
        """Return those of some calls that lead to what a wanted thing is shut in, or to another thing of its class."""
        tools, shut_in = set(map(folded, self._needed.tools)), self.episode.shut_in

        def is_wanted(name: str) -> bool:
            return name in self.things and (self._matters(name) or folded(self.things[name].object_class) in tools)

        over = {name: lid for name, lid in shut_in.items() if self.state.has(lid, ObjectState.CLOSED)}
        wanted = [name for name in over if is_wanted(name)]
        lids, classes = {over[name] for name in wanted}, {folded(self.things[name].object_class) for name in wanted}

        def leads_on(call: SkillCall) -> bool:
            things = filter(None, map(self.state.named, call.arguments))
            return any(thing.id in lids or folded(thing.object_class) in classes for thing in things)

        return {text: call for text, call in calls.items() if leads_on(call)}

    def value(self, call: SkillCall, settled: Collection[str] = ()) -> float:
        """Return memory's value of a call, in (0, 1]: how sure memory is that the things are there, reduced for each
        thing that the instruction does not name, for each repetition of the call, and for taking up what is to stay.

        settled: names or ids of the things that are to stay; see GoalCheck.settled.
        """
        things = list(filter(None, map(self.state.named, call.arguments)))
        there = math.prod(thing.existence for thing in things)
        beside = sum(thing.id != self.held and not self._matters(thing.id) for thing in things)
        again = self._made[self._plain(call)]
        undoing = call.skill == "PickupObject" and any(
            not {thing.id, *thing.identities}.isdisjoint(settled) for thing in things
        )
        worth = there * _VALUE_BESIDE**beside * _VALUE_OF_AGAIN**again
        return max(_LEAST_VALUE, worth * (_VALUE_OF_UNDOING if undoing else 1.0))

    def follow(self, result: SkillResult, memory_ids: Mapping[str, str] | None = None) -> None:
        """Take over how a skill ended; see EpisodeWorld.follow. A call that failed is not offered again until something
        was done with its things."""
        call = result.call
        self._made[self._plain(call)] += 1
        if not result.success:
            self._failed.add(call)
        elif call.skill == "OpenObject":
            self._failed.clear()  # whatever was behind the door, known to be there or not
        else:
            self._failed = {other for other in self._failed if set(other.arguments).isdisjoint(call.arguments)}
        self.episode.follow(result, memory_ids or {})

    @property
    def things(self) -> Mapping[str, Thing]:
        """The things by name."""
        return self.state.things

    @property
    def unmoved(self) -> Hashable:
        """All beliefs but the robot's place: two values are equal if nothing else has changed."""
        return tuple(self.things), self.state.standing_at("").changing

    @property
    def areas(self) -> tuple[str, ...]:
        """The names of the areas that can be searched."""
        return tuple(self._places)

    @property
    def held(self) -> str:
        """The name of what the hand holds, "" for nothing."""
        return self.state.held or ""

    def with_references(self, call: SkillCall) -> SkillCall:
        """Return a call whose names are replaced by what they stand for; what is no name stays."""

        def reference(text: str) -> str:
            thing = self.things.get(text)
            # A bare class stays: memory looks it up when the call is made, because the thing may be elsewhere by then.
            if thing is not None and text != thing.object_class:
                return thing.call_name
            return self._places.get(text, text) if call.skill == "Explore" else text

        return SkillCall(call.skill, tuple(map(reference, call.arguments)))

    def thing_of(self, reference: str) -> Thing | None:
        """Return the thing that an argument of a call stands for."""
        return self.state.named(reference)

    def lines(self) -> list[str]:
        """Return what is known of each thing, one a line."""
        return world_lines(self.state)

    def unknown_classes(self) -> tuple[str, ...]:
        """Return the classes of unseen things that the instruction names or its treatments need."""
        return self._needed.missing(self.about, {folded(thing.object_class) for thing in self.state})

    def _matters(self, name: str) -> bool:
        """Return whether the instruction names a thing or its contents, or its treatments need the thing."""
        wanted = self._needed.places.union(map(folded, self.about))
        return any(folded(one.object_class) in wanted for one in (self.things[name], *self.state.contents(name)))

    def _plain(self, call: SkillCall) -> tuple[str, ...]:
        return (call.skill, *self._named(call.arguments))

    def _named(self, references: Sequence[str]) -> list[str]:
        things = [(text, self.state.named(text)) for text in references]
        return [thing.id if thing is not None else text for text, thing in things]
