"""Moves the whole graph when its map has got another origin; ids stay."""

from __future__ import annotations

from dataclasses import replace

from memory_node.domain.geometry import Pose
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import GraphState


def shift_graph(state: GraphState, places: Places, new_T_old: Pose) -> None:
    """Express everything in a map that `new_T_old` leads to; its rotation is about +z."""
    table = state.table
    for row in table.rows():
        record = table.record(row)
        table.center[row] = new_T_old.apply(table.center[row])
        table.yaw[row] += new_T_old.yaw_rad
        record.history = tuple(replace(place, box=place.box.moved_by(new_T_old)) for place in record.history)
        if not table.removed[row]:
            state.place(row)
    for area in list(places.areas.values()):
        places.areas[area.id] = replace(area, position=_moved(new_T_old, area.position))
    for room in list(places.rooms.values()):
        places.rooms[room.id] = replace(room, center=_moved(new_T_old, room.center))
    for floor in list(places.floors.values()):
        places.floors[floor.id] = replace(floor, height_m=floor.height_m + float(new_T_old.position[2]))
    state.keyframes = {name: new_T_old @ pose for name, pose in state.keyframes.items()}
    state.version += 1


def _moved(new_T_old: Pose, at: tuple[float, float]) -> tuple[float, float]:
    x, y, _ = new_T_old.apply([at[0], at[1], 0.0])
    return (float(x), float(y))
