"""Moves held objects with the robot, together with what stands on or in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.geometry import FloatArray
from memory_node.domain.observation import Frame
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
        seen = [(_distance(frame, o.box.center), i) for i, o in enumerate(observations) if folded(o.best_class) == name]
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


def _distance(frame: Frame, center: np.ndarray) -> float:
    return float(np.linalg.norm(center - frame.map_T_camera.position))
