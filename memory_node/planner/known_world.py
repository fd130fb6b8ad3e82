"""The things that a language model's calls may name, and their believed states. Names are
memory's own ("Mug 2"): a small model spells them right, they cost a token or two, and they contain no text from
outside. Each name stands for a reference that the skills take.

It is a choice among the things of `EpisodeWorld`, which alone follows memory and skills.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import HeldObject, SceneSnapshot
from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import GOAL_OF_SKILL, Skill
from memory_node.world.episode import EpisodeWorld
from memory_node.world.state import Thing, WorldState


def needed_tools(kinds: ObjectCatalogue, skills: Iterable[Skill]) -> tuple[str, ...]:
    """Return the classes of tools of which skills need one in the hand, () where none is needed."""
    usual = (kinds.usual_treatment(GOAL_OF_SKILL[skill.name]) for skill in skills if skill.tool_ability)
    return tuple(name for one in usual if one is not None for name in one.tools)


def needed_places(kinds: ObjectCatalogue, skills: Iterable[Skill]) -> list[tuple[str, ...]]:
    """Return for each composite among some skills the classes at which it is usually done."""
    usual = (kinds.usual_treatment(GOAL_OF_SKILL[skill.name]) for skill in skills if skill.composite)
    return [one.at for one in usual if one is not None and one.at]


def missing_classes(
    kinds: ObjectCatalogue, skills: Sequence[Skill], about: Collection[str], known: Collection[str]
) -> tuple[str, ...]:
    """Return the classes that an instruction is about, and one of each need of its skills, of which nothing is known.

    known: folded classes.
    """

    def is_there_otherwise(name: str) -> bool:
        """Whether it is a piece of what is there, or a whole of which there are pieces that are wanted as well."""
        whole, pieces = kinds.whole(name), kinds[name].slices
        return (whole != name and folded(whole) in known) or (pieces in about and folded(pieces) in known)

    wanted = [name for name in about if not is_there_otherwise(name)]
    for needed in filter(None, (needed_tools(kinds, skills), *needed_places(kinds, skills))):
        wanted += needed[:1] if not any(folded(name) in known for name in needed) else ()
    return tuple(name for name in dict.fromkeys(wanted) if folded(name) not in known)


# Things of a class that are listed when the instruction does not name the class.
_OTHERS_OF_A_CLASS = 2
# Things of a class that are named before others have their turn.
_IN_TURN = 4


def prompt_objects(
    state: WorldState,
    about: Sequence[str],
    fixtures: Collection[str],
    listed: Collection[str],
    most: int,
    recent: Collection[str] = (),
) -> list[str]:
    """Return the names of what the instruction is about, what holds it, and what skills need.

    about: classes, the most important first. fixtures: folded classes that skills need. listed: names that stand in a
    prompt already; they, what memory does not hold, what the hand holds, everybody who is there, and what was
    just seen or used (`recent`, by memory's ids) are always chosen. most: so many at most, besides these and what they
    all lie on; where there are more, two of each class that the instruction does not name.
    """
    wanted = {folded(name): rank for rank, name in enumerate(about)}
    always = {
        one.id
        for one in state
        if one.id in listed
        or one.memory_id in {"", *recent}
        or one.id == state.held
        or one.object_class == state.kinds.recipient
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
    most: int = 40
    recent: Collection[str] = ()
    state: WorldState = field(init=False)
    _listed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.state = self.episode.state

    @property
    def kinds(self) -> ObjectCatalogue:
        """What can be done with classes."""
        return self.episode.state.kinds

    def refresh(self, scene: SceneSnapshot, held: HeldObject | None = None) -> None:
        """Take over what memory believes now. held: what it holds to be in the hand."""
        everything = self.episode.refresh(scene, held)
        fixtures = {folded(name) for names in self.kinds.needs_of_skills().values() for name in names}
        chosen = prompt_objects(everything, self.about, fixtures, self._listed, self.most, self.recent)
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


# So many things of a class that nothing tells apart are told as one.
_FOLDED_FROM = 3
_LONGEST_LOOKS = 100  # characters


def world_lines(state: WorldState) -> list[str]:
    """Return a line for each thing: its name, what it is in or on, its states, and what it looks like."""
    lines = []
    for thing in state:
        said = sorted(map(str, thing.states))
        if thing.id == state.held:
            said.insert(0, "in the hand")
        elif thing.container:
            said.insert(0, f"{'in' if _is_inside(thing, state) else 'on'} {thing.container}")
        said += [looks_of(thing)] if thing.description else []
        words = ", ".join(said)
        lines.append(f"{thing.id}: {words}" if words else thing.id)
    return lines


def looks_of(thing: Thing) -> str:
    """Return what a thing looks like, quoted: somebody else's words, which cannot end the quote."""
    plain = " ".join(thing.description.replace('"', "'").split()).rstrip(".")
    return f'"{plain[:_LONGEST_LOOKS]}"'


def _is_inside(thing: Thing, state: WorldState) -> bool:
    outer = state.things.get(thing.container)
    if thing.inside is not None or outer is None:
        return bool(thing.inside)
    return state.kinds[outer.object_class].holds_inside


def names_folded(names: Iterable[str]) -> list[str]:
    """Return names by class and number, with runs of numbers in one: "Drawer 1 to 21" for three or more of a class."""
    runs: list[list[str]] = []
    for name in sorted(names, key=by_number):
        stem, _, number = name.rpartition(" ")
        last = runs[-1][-1].rpartition(" ") if runs else ("", "", "")
        follows = stem and last[0] == stem and last[2].isdigit() and number == str(int(last[2]) + 1)
        if follows:
            runs[-1].append(name)
        else:
            runs.append([name])
    folded: list[str] = []
    for run in runs:
        folded += [f"{run[0]} to {run[-1].rpartition(' ')[2]}"] if len(run) >= _FOLDED_FROM else run
    return folded


def by_number(name: str) -> tuple[str, int]:
    """Return what sorts names: by class, then by number, so that "Drawer 10" comes behind "Drawer 9"."""
    stem, _, number = name.rpartition(" ")
    return (stem, int(number)) if stem and number.isdigit() else (name, 0)
