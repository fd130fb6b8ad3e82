"""The things that a language model's calls may name, and their believed states. Names are
memory's own ("Mug 2"): a small model spells them right, they cost a token or two, and they contain no text from
outside. Each name stands for a reference that the skills take.

It is a choice among the things of `EpisodeWorld`, which alone follows memory and skills.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import HeldObject, SceneSnapshot
from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import Skill
from memory_node.planner.needed_classes import NeededClasses
from memory_node.planner.world_prompt import world_lines
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing, WorldState

# Things of a class that are listed when the instruction does not name the class.
_OTHERS_OF_A_CLASS = 2
# Things of a class that are named before others have their turn.
_IN_TURN = 4


def prompt_objects(
    state: WorldState,
    about: Sequence[str],
    fixtures: Collection[str],
    people: str,
    listed: Collection[str],
    most: int,
    recent: Collection[str] = (),
) -> list[str]:
    """Return the names of what the instruction is about, what holds it, and what skills need.

    about: classes, the most important first. fixtures: folded classes that skills need. listed: names that stand in a
    prompt already; they, what memory does not hold, what the hand holds, everybody of the class of people, and what was
    just seen or used (`recent`, by memory's ids) are always chosen. most: so many at most, besides these and what they
    all lie on; where there are more, two of each class that the instruction does not name.
    """
    wanted = {folded(name): rank for rank, name in enumerate(about)}
    always = {
        one.id
        for one in state
        if one.id in listed or one.memory_id in {"", *recent} or one.id == state.held or one.object_class == people
    }

    def rank(thing: Thing) -> tuple[int, float, str]:
        name = folded(thing.object_class)
        if thing.id in always:
            return -1, 0.0, thing.id
        first = wanted.get(name, len(wanted) + (0 if name in fixtures else 1))
        return first, -thing.existence, thing.id

    def most_of(name: str) -> int:
        return most if name in wanted or len(state.things) <= most else _OTHERS_OF_A_CLASS

    # Twenty drawers do not push out the sink: of each class a few in turn.
    turns: list[tuple[int, Thing]] = []
    counts: Counter[str] = Counter()
    for thing in sorted(state, key=rank):
        name = folded(thing.object_class)
        turn = counts[name] // _IN_TURN
        counts[name] += 1  # what is listed already counts, else each look would list two more of a class
        if counts[name] <= most_of(name) or thing.id in always:
            turns.append((0 if thing.id in always else turn, thing))
    in_turn = [thing for _, thing in sorted(turns, key=lambda one: one[0])[: max(most, len(always))]]
    chosen = [thing.id for thing in in_turn]
    supports = [outer.id for thing in in_turn for _, outer in state.around(thing.id)]
    return list(dict.fromkeys([*chosen, *supports]))


@dataclass
class KnownWorld:
    """The part of an instruction's world that a model is told of; `refresh` follows memory.

    about: the classes that the instruction speaks of, the most important first. most: how many things are named,
    besides what they lie on. recent: memory's ids of what was just seen or used, which is named in any case. state:
    these things, under their names.
    """

    episode: EpisodeWorld
    about: tuple[str, ...]
    skills: tuple[Skill, ...]
    most: int = 40
    recent: Collection[str] = ()
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
        people = self.kinds.recipient
        chosen = prompt_objects(
            everything, self.about, self._needed.fixtures, people, self._listed, self.most, self.recent
        )
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
    def left_out(self) -> Counter[str]:
        """How many things of each class memory knows and `things` does not name."""
        return Counter(one.object_class for one in self.episode.state if one.id not in self.things)

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

    def lines(self) -> list[str]:
        """Return what is known of each thing, one a line."""
        return world_lines(self.state)
