"""Homes from the ALFRED benchmark: AI2-THOR floor plans with the object positions of one task (docs/homes.md).

AI2-THOR's axes (x right, y up, z forward, left-handed, rotation clockwise in degrees) become REP-103's:
x = z_thor, y = -x_thor, z = y_thor, yaw = -rotation; the floor is at z = 0.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from benchmarks.alfred_geometry import (
    fixture_box,
    front_yaw,
    heap_up,
    nearest_point,
    part_neighbours,
    reach_contents,
    receptacle_of,
    settle_surfaces,
    turn_drawers,
)
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import NotFoundError
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.states import ObjectState
from memory_node.sim.layout import FREE, OCCUPIED, FreeGrid, Layout, RoomPlan
from memory_node.sim.placement import size_in
from memory_node.sim.thing import Thing, initial_states, load_types
from memory_node.sim.world import TAP_RANGE_M, World, chill

GRID_M = 0.25
ROOM_MARGIN_M = 0.4
# AI2-THOR's visibility distance: its agent sees and reaches this far.
ALFRED_REACH_M = 1.5


def position_from_thor(position: Any) -> FloatArray:
    """Return (x, y, z) of AI2-THOR in REP-103 axes."""
    x, y, z = (float(value) for value in position)
    return np.array([z, -x, y])


def pose_from_thor(x: float, z: float, rotation_deg: float) -> Pose:
    """Return the planar pose of an AI2-THOR agent in REP-103 axes."""
    return Pose.planar(float(z), -float(x), -float(np.radians(rotation_deg)))


class AlfredScenes:
    """The floor plans of one scenes.json.gz, read once."""

    def __init__(self, path: str | Path) -> None:
        content = Path(path).read_bytes()
        self._scenes: dict[str, Any] = json.loads(gzip.decompress(content) if Path(path).suffix == ".gz" else content)
        self.types = load_types()

    @property
    def floor_plans(self) -> tuple[str, ...]:
        """The names of the floor plans, in the file's order."""
        return tuple(self._scenes)

    def object_types(self, floor_plan: str) -> tuple[str, ...]:
        """Return the classes that occur in a floor plan, those without a known position included."""
        return tuple(self._scene(floor_plan)["object_types"])

    def world(self, floor_plan: str, task: Mapping[str, Any] | None = None) -> World:
        """Return the floor plan with the objects and the start pose of a task row; without one it holds fixtures only.

        Raises:
            NotFoundError: no such floor plan.
        """
        scene = self._scene(floor_plan)
        task = task or {}
        reachable = np.array([[z, -x] for x, z in scene["reachable_xz"]], dtype=np.float64)
        fixtures = self._fixtures(scene, reachable)
        things = fixtures + self._objects(task, fixtures)
        _apply_task_states(things, task)
        world = World(_layout(floor_plan, scene, reachable, things, task), _grid(reachable), self.types, things)
        chill(world)
        return world

    def _scene(self, floor_plan: str) -> Any:
        if floor_plan not in self._scenes:
            raise NotFoundError(f"no floor plan {floor_plan!r}; there are {len(self._scenes)}, such as FloorPlan1")
        return self._scenes[floor_plan]

    def _fixtures(self, scene: Mapping[str, Any], reachable: FloatArray) -> list[Thing]:
        fixtures = []
        for entry in scene["fixtures"]:
            thing_type = self.types[entry["type"]]
            position = position_from_thor(entry["position"])
            approach = entry.get("approach")
            stand = pose_from_thor(approach["x"], approach["z"], approach["rotation"]) if approach else None
            user = stand.position[:2] if stand is not None else nearest_point(reachable, position)
            box = fixture_box(thing_type, position, front_yaw(position, stand, reachable), user)
            states = initial_states(thing_type)
            fixtures.append(Thing(entry["id"], thing_type, box, fixed=True, states=states, approach=stand))
        turn_drawers(fixtures, reachable)
        part_neighbours(fixtures)
        return fixtures + self._missing_taps(fixtures)

    def _missing_taps(self, fixtures: list[Thing]) -> list[Thing]:
        """Return a tap for every basin without one: every basin of AI2-THOR has one, but not every plan used it."""
        thing_type = self.types["Faucet"]
        taps = [fixture for fixture in fixtures if fixture.type is thing_type]
        added = []
        for basin in (fixture for fixture in fixtures if fixture.type.can(Property.DRAINS)):
            apart = [float(np.linalg.norm(tap.box.center[:2] - basin.box.center[:2])) for tap in taps]
            if not apart or min(apart) > TAP_RANGE_M:
                behind = (
                    -0.5 * float(basin.box.size[0]) * np.array([np.cos(basin.box.yaw_rad), np.sin(basin.box.yaw_rad)])
                )
                center = np.array([*(basin.box.center[:2] + behind), basin.box.top_m + 0.5 * thing_type.size_m[2]])
                box = OrientedBox(center, np.array(thing_type.size_m), basin.box.yaw_rad)
                states = initial_states(thing_type)
                added.append(
                    Thing(
                        f"{thing_type.kind.name} of {basin.id}",
                        thing_type,
                        box,
                        True,
                        states=states,
                        approach=basin.approach,
                    )
                )
        return added

    def _objects(self, task: Mapping[str, Any], fixtures: list[Thing]) -> list[Thing]:
        objects: list[Thing] = []
        counts: dict[str, int] = {}
        for entry in task.get("objects", ()):
            thing_type = self.types[entry["type"]]
            bottom = position_from_thor(entry["position"])
            center = bottom + np.array([0.0, 0.0, 0.5 * thing_type.size_m[2]])
            thing_id = "|".join([thing_type.kind.name, *(f"{value:+06.2f}" for value in entry["position"])])
            counts[thing_id] = counts.get(thing_id, 0) + 1
            if counts[thing_id] > 1:
                thing_id = f"{thing_id}#{counts[thing_id]}"
            thing = Thing(
                thing_id,
                thing_type,
                OrientedBox(center, np.array(thing_type.size_m)),
                states=initial_states(thing_type),
            )
            receptacle = receptacle_of(thing, fixtures)
            if receptacle is not None:
                thing.parent_id, thing.inside = receptacle.id, receptacle.kind.holds == "in"
                size = size_in(thing, receptacle)
                thing.box = OrientedBox(bottom + np.array([0.0, 0.0, 0.5 * size[2]]), size, thing.box.yaw_rad)
            objects.append(thing)
        settle_surfaces(fixtures, objects)
        heap_up(objects)
        reach_contents(fixtures, objects)
        for fixture in fixtures:
            fixture.heaps = True  # ALFRED's files do not say how large it is
        return objects


def _layout(
    floor_plan: str, scene: Mapping[str, Any], reachable: FloatArray, things: list[Thing], task: Mapping[str, Any]
) -> Layout:
    spots = np.vstack([reachable, *(thing.box.center[None, :2] for thing in things)])
    (x0, y0), (x1, y1) = spots.min(axis=0) - ROOM_MARGIN_M, spots.max(axis=0) + ROOM_MARGIN_M
    room = RoomPlan(floor_plan, str(scene["room_type"]), (float(x0), float(y0), float(x1), float(y1)))
    agent = task.get("agent")
    x, y = (float(value) for value in reachable[0])
    start = pose_from_thor(agent["x"], agent["z"], agent["rotation"]) if agent else Pose.planar(x, y, 0.0)
    # The walls of AI2-THOR are not in the data; with one room nothing hides behind them.
    return Layout(floor_plan, (room,), (), (), start)


def _grid(reachable: FloatArray) -> FreeGrid:
    low = reachable.min(axis=0)
    cells = np.round((reachable - low) / GRID_M).astype(int)
    columns, rows = cells.max(axis=0) + 1
    occupancy = np.full((rows, columns), OCCUPIED, dtype=np.int8)
    occupancy[cells[:, 1], cells[:, 0]] = FREE
    _join_parts(occupancy)
    corner = low - 0.5 * GRID_M
    return FreeGrid(occupancy, GRID_M, (float(corner[0]), float(corner[1])))


def _join_parts(occupancy: NDArray[np.int8]) -> None:
    """Free the cells of the shortest links between parts that only a cell of the coarse grid keeps apart.

    ALFRED's agent was in all of them.
    """
    while True:
        parts, count = ndimage.label(occupancy == FREE)
        if count <= 1:
            return
        here, there = np.argwhere(parts == 1), np.argwhere(parts > 1)
        steps = np.abs(here[:, None] - there[None]).sum(axis=2)
        nearest = np.unravel_index(int(np.argmin(steps)), steps.shape)
        (row, column), (to_row, to_column) = here[nearest[0]], there[nearest[1]]
        occupancy[min(row, to_row) : max(row, to_row) + 1, column] = FREE
        occupancy[to_row, min(column, to_column) : max(column, to_column) + 1] = FREE


def _apply_task_states(things: list[Thing], task: Mapping[str, Any]) -> None:
    toggles = {entry["objectType"]: bool(entry["isOn"]) for entry in task.get("object_toggles", ())}
    for thing in things:
        if thing.kind.name in toggles:
            thing.add_state(ObjectState.ON if toggles[thing.kind.name] else ObjectState.OFF)
        if task.get("dirty_and_empty") and thing.can(Property.DIRTYABLE):
            thing.add_state(ObjectState.DIRTY)
