"""The things that a language model's calls may name, and their believed states. Names are
memory's own ("Mug 2"): a small model spells them right, they cost a token or two, and they contain no text from
outside. Each name stands for a reference that the skills take.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.held_object import HeldObject
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import Skill
from memory_node.planner.needed_classes import NeededClasses
from memory_node.planner.prompt_objects import prompt_objects
from memory_node.planner.world_prompt import world_lines
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing, WorldState


@dataclass
class KnownWorld:
    """The part of an instruction's world that a model is told of; `refresh` follows memory.

    about: the classes that the instruction speaks of, the most important first. most: how many things are named,
    besides what they lie on. state: these things, under their names.
    """

    episode: EpisodeWorld
    about: tuple[str, ...]
    skills: tuple[Skill, ...]
    most: int = 40
    state: WorldState = field(init=False)
    _needed: NeededClasses = field(init=False)
    _listed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.state = self.episode.state
        self._needed = NeededClasses(self.kinds, self.skills)

    @property
    def kinds(self) -> ObjectCatalogue:
        """What can be done with classes."""
        return self.episode.state.kinds

    def refresh(self, scene: SceneSnapshot, held: HeldObject | None = None) -> None:
        """Take over what memory believes now. held: what it holds to be in the hand."""
        everything = self.episode.refresh(scene, held)
        chosen = prompt_objects(everything, self.about, self._needed.fixtures, self._listed, self.most)
        self._listed.update(chosen)
        listed = {name: everything.things[name] for name in chosen}
        things = {
            name: thing if thing.container in listed else replace(thing, container="", inside=None)
            for name, thing in listed.items()
        }
        at = everything.at if everything.at is None or everything.at in things else ""
        self.state = replace(everything, things=things, at=at)

    def follow(self, result: SkillResult, memory_ids: Mapping[str, str] | None = None) -> None:
        """Take over how a skill ended; see EpisodeWorld.follow."""
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
    def held(self) -> str:
        """The name of what the hand holds, "" for nothing."""
        return self.state.held or ""

    def thing_of(self, reference: str) -> Thing | None:
        """Return the thing that an argument of a call stands for."""
        return self.state.named(reference)

    def lines(self) -> list[str]:
        """Return what is known of each thing, one a line."""
        return world_lines(self.state)
