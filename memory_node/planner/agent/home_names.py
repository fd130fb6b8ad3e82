"""Names of the home in the agent's dialogue: which thing a model means, what is known of things and areas, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_node.catalogue.class_name import folded
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import SceneSnapshot
from memory_node.planner.asked_skills import licensed_skills
from memory_node.planner.goal import Goal
from memory_node.planner.known_world import KnownWorld
from memory_node.planner.needed_classes import NeededClasses
from memory_node.world.state import Thing

_MOST_AREAS = 40
_LIKELY_AREAS = 4
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Meant:
    """What a name stands for. thing: None where it is none or several; object_class: "" where no class is called so;
    several: the names of those that it may be."""

    thing: Thing | None = None
    object_class: str = ""
    several: tuple[str, ...] = ()


class HomeNames:
    """Reads and writes names. world: follows memory; it is widened by the classes that a model asks for."""

    def __init__(self, world: KnownWorld, memory: MemoryPort) -> None:
        self._world = world
        self._memory = memory

    def meant(self, name: str) -> Meant:
        """Return what a name stands for: a thing's name, or a class where it has one thing only."""
        things = self._world.things
        name = " ".join(name.split())
        exact = next((one for key, one in things.items() if key == name), None)
        if exact is None:
            exact = next((one for key, one in things.items() if folded(key) == folded(name)), None)
        object_class = self.class_called(name)
        same = [key for key, one in things.items() if folded(one.object_class) == folded(object_class or name)]
        if exact is not None:
            return Meant(exact, exact.object_class)
        if len(same) == 1:
            return Meant(things[same[0]], things[same[0]].object_class)
        return Meant(None, object_class, tuple(same))

    def class_called(self, name: str) -> str:
        """Return the class of a name, "" for none."""
        kinds = self._world.kinds
        kind = kinds.find(name)
        if kind is not None:
            return kind.name
        called = kinds.spoken_names.classes(name.lower())
        return called[0] if called else ""

    def widen(self, classes: Iterable[str]) -> None:
        """Let the world name all things of some classes from now on."""
        new = [name for name in classes if name not in self._world.about]
        self._world.about = (*self._world.about, *new)

    def lines(self, scene: SceneSnapshot) -> list[str]:
        """Return what is known of each thing, one a line, with the room of what is in or on nothing known."""
        room_of = self._rooms_of_things(scene)
        lines = []
        for line in self._world.lines():
            name = line.partition(":")[0]
            thing = self._world.things[name]
            room = "" if thing.container or name == self._world.held else room_of.get(thing.memory_id, "")
            lines.append(f"{line}{',' if ':' in line else ':'} {room}" if room else line)
        return lines

    def _rooms_of_things(self, scene: SceneSnapshot) -> dict[str, str]:
        room_of_area = scene.room_of_area
        if len(set(room_of_area.values())) < 2:
            return {}
        return {found.id: room_of_area.get(found.area_id, "") for found in scene.objects}

    def areas(self, scene: SceneSnapshot) -> str:
        """Return the areas by room, in a line."""
        room_names = {room.id: room.name for room in scene.rooms}
        by_room: dict[str, list[str]] = {}
        for area in scene.areas[:_MOST_AREAS]:
            by_room.setdefault(room_names.get(area.room_id, ""), []).append(area.name[:_LONGEST_NAME])
        said = [f"{room}: {', '.join(names)}" if room else ", ".join(names) for room, names in by_room.items()]
        more = len(scene.areas) - _MOST_AREAS
        return "; ".join(said) + (f"; and {more} more" if more > 0 else "")

    def likely(self, object_class: str) -> str:
        """Return where a thing is likely, in words; "" where memory has no idea."""
        areas = self._memory.rank_search_areas(object_class, _LIKELY_AREAS)
        return ", ".join(f"{area.name[:_LONGEST_NAME]} ({area.probability:.0%})" for area in areas)

    def not_known(self, goals: Sequence[Goal] = ()) -> list[str]:
        """Return a line for each class that the task needs and memory lacks: where it is likely, what is alike."""
        kinds, lines = self._world.kinds, []
        known = {folded(thing.object_class) for thing in self._world.things.values()}
        needed = NeededClasses(kinds, licensed_skills(goals, kinds) if goals else ())
        for name in needed.missing(self._world.about, known):
            alike = sorted(kinds.alike((name,)) - {name}) if name in kinds else []
            here = [one for one in alike if any(thing.object_class == one for thing in self._world.things.values())]
            likely = self.likely(name)
            said = f"{name}: likely at {likely}" if likely else name
            lines.append(f"{said}; alike: {', '.join(here)}" if here else said)
        return lines
