"""Homes written by hand: a YAML file with rooms, doors, fixtures and objects (docs/homes.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from memory_node.catalogue.class_name import spoken
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.resources import read_yaml, resource_path
from memory_node.domain.states import ObjectState
from memory_node.sim.layout import FREE, OCCUPIED, UNKNOWN, WALL_THICKNESS_M, Door, FreeGrid, Layout, RoomPlan, walls_of
from memory_node.sim.placement import fits, free_spot
from memory_node.sim.thing import ObjectType, Thing, TypeCatalogue, initial_states, load_types
from memory_node.sim.world import World, chill

RESOLUTION_M = 0.05
MARGIN_M = 0.5
# The robot drives below what hangs higher than this.
CLEARANCE_HEIGHT_M = 1.4


def occupancy_of(layout: Layout, fixtures: Sequence[Thing], robot_radius_m: float) -> FreeGrid:
    """Return the grid of 0.05 m cells: free floor, walls and furniture occupied, outside the rooms unknown."""
    corners = np.vstack([room.corners() for room in layout.rooms])
    origin = corners.min(axis=0) - MARGIN_M
    columns, rows = np.ceil((corners.max(axis=0) + MARGIN_M - origin) / RESOLUTION_M).astype(int)
    occupancy = np.full((rows, columns), UNKNOWN, dtype=np.int8)
    y, x = np.mgrid[0:rows, 0:columns]
    cells = np.stack([x, y], axis=-1).reshape(-1, 2) * RESOLUTION_M + origin + 0.5 * RESOLUTION_M
    flat = occupancy.reshape(-1)
    for room in layout.rooms:
        x0, y0, x1, y1 = room.bounds
        flat[(cells[:, 0] > x0) & (cells[:, 0] < x1) & (cells[:, 1] > y0) & (cells[:, 1] < y1)] = FREE
    for wall in layout.walls:
        if wall.bottom_m == 0.0:
            flat[_in_wall(np.array(wall.start), np.array(wall.end), cells)] = OCCUPIED
    for fixture in fixtures:
        if not fixture.type.looks.mounted and fixture.box.bottom_m < CLEARANCE_HEIGHT_M:
            flat[_covers(fixture.box, cells)] = OCCUPIED
    return FreeGrid(occupancy, RESOLUTION_M, (float(origin[0]), float(origin[1])), robot_radius_m)


def _in_wall(start: FloatArray, end: FloatArray, cells: FloatArray) -> np.ndarray:
    half = 0.5 * WALL_THICKNESS_M
    low, high = np.minimum(start, end) - half, np.maximum(start, end) + half
    return np.asarray(((cells >= low) & (cells <= high)).all(axis=1))


def _covers(box: OrientedBox, cells: FloatArray) -> np.ndarray:
    at_height = np.column_stack([cells, np.full(len(cells), box.center[2])])
    return np.asarray(box.contains(at_height))


_HOME_KEYS = {"name", "robot", "rooms", "doors", "fixtures", "objects"}
_FIXTURE_KEYS = {"id", "type", "at", "yaw_deg", "z_m", "size_m", "on", "states", "controls"}
_OBJECT_KEYS = {"id", "type", "on", "in", "floor", "at", "yaw_deg", "states"}


def load_home(home: str | Path, types: TypeCatalogue | None = None) -> World:
    """Return the world of a shipped home (by name, such as "apartment") or of a YAML file (by path).

    Raises:
        InvalidValueError: the file says something that cannot be; the message names the entry.
    """
    path = Path(home) if str(home).endswith((".yaml", ".yml")) else _shipped(str(home))
    try:
        declared = read_yaml(path) or {}
    except OSError as error:
        raise InvalidValueError(f"home {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"home {path} is no YAML: {' '.join(str(error).split()):.300}") from None
    if not isinstance(declared, Mapping):
        raise InvalidValueError(f"home {path}: expected name, robot, rooms, ... (docs/homes.md), got {declared!r:.80}")
    _check_keys("home", declared, _HOME_KEYS, ("name", "robot", "rooms"))
    try:
        return _HomeBuilder(declared, types or load_types()).build()
    except RobotMemoryError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        # Errors of values with a wrong type: a text for a list, a list for a number.
        raise InvalidValueError(
            f"home {path}: an entry is not as docs/homes.md has it ({type(error).__name__}: {error})"
        ) from error


def shipped_homes() -> list[str]:
    """Return the names of the homes that ship with the package."""
    return sorted(path.stem for path in resource_path("config/homes").glob("*.yaml"))


def _shipped(name: str) -> Path:
    homes = shipped_homes()
    if name not in homes:
        raise InvalidValueError(
            f"home: expected {', '.join(homes)}, or the path of a home file (.yaml), got {name!r:.80}"
        )
    return resource_path(f"config/homes/{name}.yaml")


class _HomeBuilder:
    """Turns one parsed file into a world."""

    def __init__(self, declared: Mapping[str, Any], types: TypeCatalogue) -> None:
        self._declared = declared
        self._types = types
        self._counts: dict[str, int] = {}

    def build(self) -> World:
        layout = self._layout()
        fixtures: dict[str, Thing] = {}
        for entry in self._declared.get("fixtures", ()):
            fixture = self._fixture(entry, fixtures)
            fixtures[fixture.id] = fixture
        robot = self._declared.get("robot", {})
        grid = occupancy_of(layout, list(fixtures.values()), float(robot.get("radius_m", 0.22)))
        world = World(layout, grid, self._types, fixtures.values())
        for entry in self._declared.get("objects", ()):
            self._add_object(world, entry)
        chill(world)
        return world

    def _layout(self) -> Layout:
        rooms = tuple(
            RoomPlan(str(room["id"]), str(room.get("name", room["id"])), tuple(map(float, room["bounds"])))  # type: ignore[arg-type]
            for room in self._declared["rooms"]
        )
        doors = tuple(
            Door((float(door["at"][0]), float(door["at"][1])), float(door.get("width_m", 0.9)))
            for door in self._declared.get("doors", ())
        )
        x, y, yaw_deg = self._declared["robot"]["start"]
        start = Pose.planar(float(x), float(y), float(np.radians(yaw_deg)))
        return Layout(str(self._declared["name"]), rooms, walls_of(rooms, doors), doors, start)

    def _fixture(self, entry: Mapping[str, Any], fixtures: Mapping[str, Thing]) -> Thing:
        _check_keys("fixture", entry, _FIXTURE_KEYS, ("type", "at"))
        thing_type = self._types[entry["type"]]
        parent = fixtures.get(entry.get("on", ""))
        if "on" in entry and parent is None:
            raise InvalidValueError(f"fixture {entry}: what it is on must be declared before it")
        size = np.array(entry.get("size_m", thing_type.size_m), dtype=np.float64)
        bottom = float(entry.get("z_m", parent.surface_heights_m[0] if parent else 0.0))
        x, y = map(float, entry["at"])
        box = OrientedBox(np.array([x, y, bottom + 0.5 * size[2]]), size, float(np.radians(entry.get("yaw_deg", 0.0))))
        return Thing(
            id=self._id(entry, thing_type),
            type=thing_type,
            box=box,
            fixed=True,
            parent_id=parent.id if parent else "",
            states=_states(thing_type, entry),
            controls=tuple(entry.get("controls", ())),
        )

    def _add_object(self, world: World, entry: Mapping[str, Any]) -> None:
        _check_keys("object", entry, _OBJECT_KEYS, ("type",))
        thing_type = self._types[entry["type"]]
        yaw = float(np.radians(entry.get("yaw_deg", 0.0)))
        thing = Thing(
            self._id(entry, thing_type), thing_type, OrientedBox(np.zeros(3), np.array(thing_type.size_m), yaw)
        )
        thing.states = _states(thing_type, entry)
        place = [key for key in ("on", "in", "floor") if key in entry]
        if len(place) != 1:
            raise InvalidValueError(f"object {thing.id}: expected one of on, in, floor, got {place}")
        if place[0] == "floor":
            x, y = map(float, entry["floor"])
            thing.box = OrientedBox(np.array([x, y, 0.5 * thing_type.size_m[2]]), np.array(thing_type.size_m), yaw)
            world.add(thing)
            return
        receptacle = world[entry[place[0]]]
        if receptacle.kind.holds != place[0]:
            raise InvalidValueError(f"object {thing.id}: nothing is {place[0]} a {receptacle.class_name}")
        near = None if "at" not in entry else _in_map(receptacle, entry["at"])
        spot = free_spot(thing, receptacle, world.contents(receptacle.id), near)
        if spot is None or not fits(thing, receptacle):
            raise InvalidValueError(f"object {thing.id}: no room {place[0]} {receptacle.id}")
        thing.box = OrientedBox(spot.center, np.array(thing_type.size_m), spot.yaw_rad + yaw)
        thing.parent_id, thing.inside = receptacle.id, place[0] == "in"
        world.add(thing)

    def _id(self, entry: Mapping[str, Any], thing_type: ObjectType) -> str:
        number = self._counts[thing_type.kind.name] = self._counts.get(thing_type.kind.name, 0) + 1
        return str(entry.get("id", f"{spoken(thing_type.kind.name).replace(' ', '_')}_{number}"))


def _states(thing_type: ObjectType, entry: Mapping[str, Any]) -> set[ObjectState]:
    thing = Thing("", thing_type, OrientedBox(np.zeros(3), np.ones(3)), states=initial_states(thing_type))
    for word in entry.get("states", ()):
        try:
            thing.add_state(ObjectState(word))
        except ValueError as error:
            raise InvalidValueError(f"{entry}: {error}") from error
    return thing.states


def _in_map(receptacle: Thing, at: list[float]) -> np.ndarray:
    box = receptacle.box
    pose = Pose.planar(box.center[0], box.center[1], box.yaw_rad)
    return np.asarray(pose.apply(np.array([float(at[0]), float(at[1]), 0.0])))[:2]


def _check_keys(what: str, entry: Mapping[str, Any], known: set[str], needed: Sequence[str] = ()) -> None:
    unknown, missing = set(entry) - known, set(needed) - set(entry)
    if unknown:
        raise InvalidValueError(f"{what} {dict(entry)}: unknown keys {sorted(unknown)}; known are {sorted(known)}")
    if missing:
        raise InvalidValueError(f"{what} {dict(entry)}: missing keys {sorted(missing)}")
