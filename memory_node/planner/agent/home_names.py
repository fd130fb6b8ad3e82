"""Names of the home in the agent's dialogue: which thing a model means, what is known of things and areas, in words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory_node.catalogue.class_name import folded
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal
from memory_node.planner.known_world import KnownWorld, by_number, looks_of, missing_classes, names_folded
from memory_node.planner.permitted_skills import licensed_skills
from memory_node.world.state import Thing

_MOST_AREAS = 40
_WORD = re.compile(r"[\w'-]+")
_SPEAKER = frozenset({"me", "us"})
_LIKELY_AREAS = 4
_MOST_MEANT, _MOST_UNOPENED, _MOST_ALIKE = 6, 12, 8
_LONGEST_NAME = 60
# From here on a place is said to be high: a child does not reach it.
_HIGH_M = 1.2
# Classes of what the list of things leaves out that are named.
_MOST_CLASSES = 12
_TODAY = "seen today"  # is told only beside what was seen on other days
# Things in things in things that are told.
_DEPTH = 3


@dataclass(frozen=True)
class Meant:
    """What a name stands for. thing: None where it is none or several; object_class: "" where no class is called so;
    several: the names of those that it may be."""

    thing: Thing | None = None
    object_class: str = ""
    several: tuple[str, ...] = ()


Searched = dict[str, dict[str, set[str]]]


class HomeNames:
    """Reads and writes names. world: follows memory; it is widened by the classes that a model asks for. age: tells in
    words how long ago a stamp was, "" for lately. searched: by class, the ids of the areas where it was not found, with
    the ids of what memory had there then; it is written."""

    def __init__(self, world: KnownWorld, memory: MemoryPort, age: Callable[[int], str], searched: Searched) -> None:
        self._world = world
        self._memory = memory
        self._age = age
        self._searched = searched
        self._called: dict[str, str] = {}  # people, by memory's ids
        self._otherwise: dict[str, list[str]] = {}  # what words may mean besides a class that is not known
        self._has_rooms = False
        self._rooms: tuple[str, ...] = ()  # that the list of things names
        self._ages: dict[str, str] = {}  # of things that may have been moved, by name
        self._places: dict[str, set[str]] = {}  # the ids of the areas that each name was told for
        self._said: set[str] = set()  # lines that are told once

    def meant(self, name: str) -> Meant:
        """Return what a name stands for: a thing's or a person's name, or a class where it has one thing only."""
        things, name = self._world.things, " ".join(name.split())
        name = self._world.episode.same.get(name, name)
        person = self._person_called(name)
        if person is not None:
            return Meant(person, person.object_class)
        exact = self._world.state.called(name)
        object_class = self.class_called(name)
        same = [key for key, one in things.items() if folded(one.object_class) == folded(object_class or name)]
        if exact is not None and exact.id in things:
            return Meant(things[exact.id], exact.object_class)
        # Who speaks need not be the one person whom memory knows, nor a number the one thing of its class.
        is_class = name.lower() not in _SPEAKER and not name[-1:].isdigit()
        if len(same) == 1 and is_class:
            return Meant(things[same[0]], things[same[0]].object_class)
        return Meant(None, object_class, tuple(same))

    def _people(self, scene: SceneSnapshot) -> dict[str, str]:
        """Return the names of the people in a scene, by memory's ids; "" for who has none."""
        people = (one for one in scene.objects if one.class_name == self._world.kinds.recipient)
        return {one.id: _plain(str(one.attributes.get("name") or "")) for one in people if not one.removed}

    def _person_called(self, name: str) -> Thing | None:
        """Return the person of a name; of several people the only one without a name is who speaks."""
        wanted = "" if name.lower() in _SPEAKER else name.lower()
        found = [one for one, called in self._people(self._memory.scene()).items() if called.lower() == wanted]
        if len(found) != 1:
            return None
        return next((one for one in self._world.things.values() if one.memory_id == found[0]), None)

    def class_called(self, name: str) -> str:
        """Return the class of a name, "" for none."""
        kinds = self._world.kinds
        kind = kinds.find(name)
        if kind is not None:
            return kind.name
        called = kinds.spoken_names.classes(name.lower())
        return called[0] if called else ""

    def read(self, readings: Iterable[Sequence[str]]) -> None:
        """Let the world name what words mean, each the classes that it may mean, the likeliest first: things of the
        likeliest class, and where none is known what else the word may mean."""
        present = {thing.object_class for thing in self._world.episode.state}
        self.widen(names[0] for names in readings if names)
        for names in readings:
            others = [name for name in names[1:] if name in present]
            if others and names[0] not in present:
                self._otherwise[names[0]] = others
                self.widen(others)

    def widen(self, classes: Iterable[str]) -> None:
        """Let the world name all things of some classes from now on."""
        new = [name for name in classes if name not in self._world.about]
        self._world.about = (*self._world.about, *new)

    def lines(self, scene: SceneSnapshot, aged: bool = False) -> dict[str, str]:
        """Return what is known of each thing as a line, by its name, with the room of what is in or on nothing known.

        aged: with how long ago it was seen, where that is long ago.
        """
        has_rooms, people = _has_rooms(scene), self._people(scene)
        ages = {name: age for name, age in self._ages_in(scene).items() if age != _TODAY} if aged else {}
        lines = dict(zip(self._world.things, self._world.lines()))
        for name, thing in self._world.things.items():
            room = thing.room if has_rooms and not thing.container and name != self._world.held else ""
            told = ", ".join(filter(None, (people.get(thing.memory_id, ""), room, ages.get(name, ""))))
            lines[name] += f"{',' if ':' in lines[name] else ':'} {told}" if told else ""
        return lines

    def inventory(self, scene: SceneSnapshot) -> list[str]:
        """Return all named things: the people, and by room a line for each thing that holds others, and one for each
        state of the rest. When things were seen is told for all, and for what was seen at another time."""
        state, has_rooms = self._world.state, _has_rooms(scene)
        self._has_rooms = has_rooms
        people = [name for name, one in self._world.things.items() if one.object_class == self._world.kinds.recipient]
        self._called, ages = self._people(scene), self._ages_in(scene)
        shown = [name for name, thing in self._world.things.items() if not thing.container and name != state.held]
        rooms: dict[str, list[str]] = {}
        for name in sorted(shown, key=by_number):
            if name not in people:
                rooms.setdefault(state.things[name].room if has_rooms else "", []).append(name)
        self._rooms = tuple(rooms)
        usual = max(Counter(ages.values()).items(), key=lambda one: (one[1], one[0]), default=("", 0))[0]
        self._ages = {name: age for name, age in ages.items() if age != usual}
        lines = [f"All {usual}, but for what says otherwise."] if usual not in ("", _TODAY) else []
        described = ", ".join(f"{one}{self._described(one, _DEPTH - 1)}" for one in people)
        lines += [f"- People: {described}"] if people else []
        for room, names in sorted(rooms.items()):
            lines += [f"{room}:"] if room else []
            told: dict[str, list[str]] = {}
            for name in names:
                told.setdefault(self._described(name), []).append(name)
            for said, alike in told.items():
                several = f"{said.strip(' ()')}: " if said and len(alike) > 1 else ""
                lines.append(f"- {several}{', '.join(names_folded(alike))}{'' if several else said}")
        return lines + self._left_out()

    def _left_out(self) -> list[str]:
        """Return a line for what memory knows and the list leaves out."""
        counts = self._world.left_out
        named = [f"{count} {name}" for name, count in sorted(counts.items())]
        more = len(named) - _MOST_CLASSES
        named = [*named[:_MOST_CLASSES], *([f"things of {more} more classes"] if more > 0 else [])]
        return [f"Not listed (find names them): {', '.join(named)}"] if named else []

    def _ages_in(self, scene: SceneSnapshot) -> dict[str, str]:
        """Return how long ago each thing that is carried about, and each person, was seen, by name."""
        kinds, world = self._world.kinds, self._world
        seen_ns = {one.id: one.last_seen_ns for one in scene.objects if one.last_seen_ns}
        return {
            name: self._age(seen_ns[one.memory_id])
            for name, one in world.things.items()
            if one.memory_id in seen_ns
            and name != world.held
            and (kinds[one.object_class].pickupable or one.object_class == kinds.recipient)
        }

    def _described(self, name: str, depth: int = _DEPTH) -> str:
        """Return what is told behind a thing's name: its states, its height and what it holds."""
        state, is_outermost = self._world.state, depth == _DEPTH
        thing = state.things[name]
        states, height_m = sorted(map(str, thing.states)), thing.position[2] if thing.position is not None else 0.0
        if thing.object_class == self._world.kinds.recipient:
            unnamed = [key for key, called in self._called.items() if not called]
            who = self._called.get(thing.memory_id) or ("who asks" if unnamed == [thing.memory_id] else "")
            states = [*filter(None, (who, thing.room if self._has_rooms else "")), *states]
        states += [looks_of(thing)] if thing.description else []
        states += filter(None, [self._ages.get(name, "")])
        is_high_place = height_m >= _HIGH_M and bool(state.kinds[thing.object_class].holds)
        states += [f"{height_m:.1f} m high"] if is_outermost and is_high_place else []
        said = f" ({', '.join(states)})" if states else ""
        told: dict[str, list[str]] = {}
        for one in sorted(state.contents(name), key=lambda one: by_number(one.id)) if depth else ():
            told.setdefault(self._described(one.id, depth - 1), []).append(one.id)
        inside = ", ".join(f"{names}{same}" for same, alike in told.items() for names in names_folded(alike))
        if not inside:
            return said
        return f"{said}: {inside}" if is_outermost else f"{said} [{inside}]"

    def in_hand(self) -> str:
        """Return what the hand holds with its states and what it holds itself, "" for nothing."""
        held = self._world.held
        return f"{held}{self._described(held)}" if held else ""

    def areas(self, scene: SceneSnapshot, others: bool = False) -> str:
        """Return the names of the places that can be searched: rooms, where those have names, else areas. others: but
        for those that the list of things names."""
        self.renamed(scene)
        every = dict.fromkeys(_area_names(scene).values())
        names = [name for name in every if not others or (name not in self._rooms and len(every) > 1)]
        more = len(names) - _MOST_AREAS
        return ", ".join(names[:_MOST_AREAS]) + (f" and {more} more" if more > 0 else "")

    def renamed(self, scene: SceneSnapshot) -> list[str]:
        """Return a line for each place that got another name; the old one is understood from then on."""
        names, lines = _area_names(scene), []
        for told in self._places.keys() - names.values():
            now = dict.fromkeys(names[one] for one in sorted(self._places[told]) if one in names)
            lines += [f"{told} is called {' and '.join(now)} now"] if now else []
        for area, name in names.items():
            self._places.setdefault(name, set()).add(area)
        return self._once(sorted(lines))

    def _once(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that were not told yet."""
        new = [line for line in lines if line not in self._said]
        self._said.update(new)
        return new

    def place_called(self, name: str, scene: SceneSnapshot) -> tuple[str, ...]:
        """Return the ids of a room's areas, or of an area; () for a name of none. Names of before count, too."""
        rooms = {room.id for room in scene.rooms if folded(room.name) == folded(name)}
        before = {one for told, areas in self._places.items() if folded(told) == folded(name) for one in areas}
        found = [one.id for one in scene.areas if one.room_id in rooms or folded(one.name) == folded(name)]
        return tuple(found or (one.id for one in scene.areas if one.id in before))

    def unopened(self, scene: SceneSnapshot, areas: Collection[str], opened: Collection[str]) -> str:
        """Return the names of what is closed in some areas, by id, and was not opened."""
        within = {one.id for one in scene.objects if one.area_id in areas}
        state = self._world.episode.state
        there = (one for one in state if one.memory_id in within and one.door is ObjectState.CLOSED)
        shut = [one.id for one in there if state.kinds[one.object_class].lidded]
        return _listed(names_folded(one for one in shut if one not in opened), _MOST_UNOPENED)

    def side_by_side(self, things: Sequence[Thing], scene: SceneSnapshot) -> list[str]:
        """Return for each room the order of its furniture of a class from left to right, as it is seen from the middle
        of the room; none where it stands all around."""
        kinds, centers = self._world.kinds, {room.name: room.center for room in scene.rooms}
        rooms: dict[str, list[tuple[float, str]]] = {}
        for one in things:
            if one.position is not None and one.room in centers and not kinds[one.object_class].pickupable:
                (x, y), (to_x, to_y, _) = centers[one.room], one.position
                rooms.setdefault(one.room, []).append((math.atan2(to_y - y, to_x - x), one.id))
        lines = []
        for room, seen in rooms.items():
            seen.sort(reverse=True)
            # What is left of the widest gap comes last.
            gaps = [(before - after) % math.tau for (before, _), (after, _) in zip(seen, [*seen[1:], seen[0]])]
            last = gaps.index(max(gaps)) + 1
            if len(seen) > 1 and max(gaps) >= math.pi:
                order = ", ".join(name for _, name in (*seen[last:], *seen[:last]))
                lines.append(f"from the middle of {room}, left to right: {order}")
        return lines

    def note_searched(self, object_class: str, areas: Collection[str], before: SceneSnapshot) -> None:
        """Note that a class was looked for in some areas, by id, without success, and in those that the search itself
        found in their rooms. before: what memory had before the search."""
        scene, known = self._memory.scene(), {area.id for area in before.areas}
        rooms = {area.room_id for area in scene.areas if area.id in areas}
        new = [area.id for area in scene.areas if area.id not in known and area.room_id in rooms]
        areas = [*areas, *new]
        self._searched.setdefault(object_class, {}).update((area, _contents(scene, area)) for area in areas)

    def likely(self, object_class: str) -> str:
        """Return where a thing is likely and was not looked for yet, in words; "" where memory has no idea."""
        scene, shares, kinds = self._memory.scene(), dict[str, float](), self._world.kinds
        names, looked = _area_names(scene), self._searched.get(object_class, {})
        # Where something new was seen it may be by now.
        searched = {area for area, had in looked.items() if _contents(scene, area) <= had}
        is_fixed = object_class in kinds and object_class != kinds.recipient and not kinds[object_class].pickupable
        searched |= {area.id for area in scene.areas if is_fixed and area.last_viewed_ns}
        ranked = self._memory.rank_search_areas(object_class)
        for area in ranked:
            if area.area_id not in searched:
                name = names.get(area.area_id) or area.name[:_LONGEST_NAME]
                shares[name] = shares.get(name, 0.0) + area.probability
        if searched and not shares:
            return "not seen anywhere in this home"
        if all(area.is_guess for area in ranked):
            return ""  # the shares of large rooms say nothing
        best = sorted(shares, key=lambda name: -shares[name])[:_LIKELY_AREAS]
        # Of a home with one place that says nothing.
        return f"look first at {', then '.join(best)}" if len(set(names.values())) > 1 else ""

    def alike(self, object_class: str) -> str:
        """Return in words what is known that may stand in for things of a class, "" for nothing."""
        kinds, state = self._world.kinds, self._world.state
        nearest = kinds.alike_first(object_class) if object_class in kinds else ()
        there = [name for one in nearest for name in names_folded(thing.id for thing in state.of_class(one))]
        return f"; alike, the nearest first: {_listed(there, _MOST_ALIKE)}" if there else ""

    def not_known(self, goals: Sequence[Goal] = ()) -> list[str]:
        """Return a line for each class that the task needs, or goals where there are some, and memory lacks: with where
        it is likely and what is alike, and one for all of which neither is known; but for what was told before, and a
        whole of which pieces are known and meant."""
        kinds, lines = self._world.kinds, []
        known = {folded(thing.object_class) for thing in self._world.things.values()}
        skills = licensed_skills(goals, kinds) if goals else ()
        about = [one.object_class for goal in goals for one in goal.mentions] or self._world.about
        cut = {goal.target.object_class for goal in goals if goal.sliced or goal.kind is GoalKind.SLICE} - {""}
        cut = {name for name in cut if folded(kinds[name].slices) in known}
        for name in missing_classes(kinds, skills, [name for name in about if name and name not in cut], known):
            likely = self.likely(name)
            meant = [thing.id for one in self._otherwise.get(name, ()) for thing in self._world.state.of_class(one)]
            said = f"{name}: {likely}" if likely else name
            mean = f"; the words may mean {_listed(meant, _MOST_MEANT)}, which is known"
            lines.append(said + (mean if meant else self.alike(name)))
        new = self._once(lines)
        bare = [line for line in new if line.isalnum()]
        return [*([", ".join(bare)] if bare else []), *(line for line in new if line not in bare)]


def _area_names(scene: SceneSnapshot) -> dict[str, str]:
    """Return what the place of each area is called, by the area's id: its room, where rooms have names, else itself."""
    room_of = scene.room_of_area
    has_names = any(room_of.values())
    names = {area.id: room_of[area.id] if has_names else area.name for area in scene.areas}
    return {area: name[:_LONGEST_NAME] for area, name in names.items() if name}


def _listed(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    return ", ".join([*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])])


def _contents(scene: SceneSnapshot, area: str) -> set[str]:
    return {one.id for one in scene.objects if one.area_id == area}


def _has_rooms(scene: SceneSnapshot) -> bool:
    """Return whether telling rooms tells anything."""
    return len(set(scene.room_of_area.values())) > 1


def joined(lines: Mapping[str, str]) -> list[str]:
    """Return lines about things, by name, with one for all of which the same is said."""
    alike: dict[str, list[str]] = {}
    for name, line in lines.items():
        alike.setdefault(line.removeprefix(name), []).append(name)
    return [f"{', '.join(names_folded(names))}{said}" for said, names in alike.items()]


def _plain(name: str) -> str:
    """Return a person's name as people told it, without anything but words, cut to 60 characters."""
    return " ".join(_WORD.findall(name))[:_LONGEST_NAME]
