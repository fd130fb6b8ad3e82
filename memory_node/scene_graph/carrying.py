"""Things that move with what carries them: in the hand, or in a drawer that slides."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.geometry import FloatArray
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.states import door_of
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.observed import Observed
from memory_node.scene_graph.resolve import nearest_of_class
from memory_node.scene_graph.state import ROBOT_ID, GraphState

# As far from the camera as an arm holds things while the robot drives.
_HAND_REACH_M = 0.9
# A sighting this near (m) to where another thing of the class is known to be is of that one.
_KNOWN_THERE_M = 0.1


def pick_up(state: GraphState, row: int) -> list[int]:
    """Let the robot hold a row; return the rows of what it carries along with it."""
    record = state.table.record(row)
    if state.table.removed[row]:  # its remembered place was wrong, and so is what stood on it
        state.unload(record.id)
    load = state.load_of(record.id)
    if record.support_id != ROBOT_ID:
        for carried in (row, *load):
            state.end_place(carried)
    state.mark_present(row)
    state.stand_on(row, ROBOT_ID, False)
    for carried in (row, *load):
        state.index.take(carried)
        state.table.sheltered[carried] = True
    return load


def leave_load(state: GraphState, row: int) -> list[int]:
    """Let what stands on a thing that is about to be taken, and is no dish, come to rest on what that stands on or in;
    return the rows of that."""
    table, record = state.table, state.table.record(row)
    kind = state.catalogue.find(record.best_class)
    if kind is None or kind.is_receptacle or record.support_id == ROBOT_ID or table.removed[row]:
        return []
    left = state.load_of(record.id)
    for child in sorted(state.contents.get(record.id, ())):
        state.stand_on(table.row(child), record.support_id, record.inside)
    table.center[left, 2] -= table.size[row, 2]
    return left


def move_load(state: GraphState, row: int, by_m: FloatArray) -> list[int]:
    """Shift what stands on or in a row by (3,), as it was itself; return its rows."""
    load = state.load_of(state.table.record(row).id)
    for carried in load:
        state.table.center[carried] += by_m
        record = state.table.record(carried)
        if record.put_at is not None:
            x, y, z = (float(value) for value in np.array(record.put_at) + by_m)
            record.put_at = (x, y, z)
    return load


def without_held(state: GraphState, frame: Frame) -> Frame:
    """Return the frame without its sightings of held objects and of what they carry; those tell where they are now.

    Of several things of a held object's class within the hand's reach, the one nearest to the camera is taken.
    """
    observations = list(frame.observations)
    for row in state.load_of(ROBOT_ID):
        name = folded(state.table.record(row).best_class)
        alike = [(o.box.center, i) for i, o in enumerate(observations) if folded(o.best_class) == name]
        seen = [(float(np.linalg.norm(center - frame.map_T_camera.position)), i) for center, i in alike]
        distance, index = min(seen, default=(np.inf, -1))
        if distance <= _HAND_REACH_M and not _is_another(state, name, observations[index].box.center):
            center = observations.pop(index).box.center
            move_load(state, row, center - state.table.center[row])
            state.table.center[row] = center
            state.table.note_seen(row, max(int(state.table.last_seen[row]), frame.stamp_ns))
    return replace(frame, observations=tuple(observations))


def _is_another(state: GraphState, name: str, center: FloatArray) -> bool:
    """Return whether a sighting is of a thing of the class that is known to be at that place, out of the hand."""
    x, y, z = (float(value) for value in center)
    row = nearest_of_class(state, name, (x, y, z))
    return row is not None and float(np.linalg.norm(state.table.center[row] - center)) <= _KNOWN_THERE_M


# How far its rail, its level and its sides may seem off (m).
_OFF_M = 0.1


def slide_to(state: GraphState, row: int, center: FloatArray) -> list[int]:
    """Move what opens by sliding to a centre (3,), with what is in it; return the rows of that."""
    by_m = np.asarray(center, np.float64) - state.table.center[row]
    state.table.center[row] += by_m
    load = move_load(state, row, by_m)
    for moved in (row, *load):
        state.place(moved)
    return load


def follow_drawers(state: GraphState, observed: Observed, rows: Rows) -> None:
    """Slide the drawers among some rows that a frame shows open and memory has shut, or the other way round; one that
    the frame shows where it was has not slid to where another is."""
    for observation in observed.observations:
        kind = state.catalogue.find(observation.best_class)
        door = door_of(observation.states)
        if kind is None or not kind.slides or door is None or observation.truncated:
            continue
        of_class = [row for row in rows.tolist() if state.table.record(row).best_class == observation.best_class]
        along = {row: _along_rail_m(state, row, observation) for row in of_class if not state.table.removed[row]}
        found = [(abs(by_m), row) for row, by_m in along.items() if by_m is not None]
        if not found or min(found)[0] <= _OFF_M:
            continue
        moved = [row for _, row in sorted(found) if door_of(state.table.record(row).states) not in (None, door)]
        alike = [one.box.center for one in observed.observations if one.best_class == observation.best_class]
        centers = state.table.center
        moved = [row for row in moved if min(np.linalg.norm(alike - centers[row], axis=1)) > _OFF_M]
        if moved:
            slide_to(state, moved[0], observation.box.center)


def _along_rail_m(state: GraphState, row: int, observation: ObjectObservation) -> float | None:
    """Return how far a row is from an observation along its own depth; None where it cannot have slid there."""
    table = state.table
    size, yaw = table.size[row], float(table.yaw[row])
    x_m, y_m, z_m = np.asarray(observation.box.center, np.float64) - table.center[row]
    ahead_m = math.cos(yaw) * x_m + math.sin(yaw) * y_m
    aside_m = math.cos(yaw) * y_m - math.sin(yaw) * x_m
    is_alike = np.abs(np.sort(size) - np.sort(observation.box.size)).max() <= _OFF_M
    on_rail = abs(ahead_m) <= size[0] + _OFF_M and max(abs(aside_m), abs(z_m)) <= _OFF_M
    return float(ahead_m) if is_alike and on_rail else None
