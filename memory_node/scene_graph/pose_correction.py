"""Moves objects with their keyframes when SLAM corrects earlier poses, or all when the map has got another origin; ids
stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import GraphState


def shift_graph(state: GraphState, places: Places, new_T_old: Pose) -> None:
    """Express everything, history included, in a map that `new_T_old` leads to; its rotation is about +z."""
    for row in state.table.rows():
        move_row(state, row, [(new_T_old, 1.0)])
        record = state.table.record(row)
        record.history = tuple(replace(place, box=place.box.moved_by(new_T_old)) for place in record.history)
    state.keyframes = {name: new_T_old @ pose for name, pose in state.keyframes.items()}
    places.moved_by(new_T_old)
    state.version += 1


def correct_keyframes(state: GraphState, corrected: Mapping[str, Pose]) -> list[int]:
    """Move objects with the keyframes that they are anchored to; return the rows that moved.

    corrected: map_T_keyframe after the correction, in the frame that `state.keyframes` holds the poses before it. An
    object seen from several keyframes follows each by its share. Keyframes that the graph does not know are left alone.
    """
    change = {
        name: pose @ state.keyframes[name].inverse() for name, pose in corrected.items() if name in state.keyframes
    }
    moved = []
    for row in list(state.table.rows()):
        anchors = [(name, weight) for name, weight in state.table.record(row).anchors if weight > 0.0]
        total = sum(weight for _, weight in anchors)
        shares = [(change.get(name, Pose()), weight / total) for name, weight in anchors]
        if any(name in change for name, _ in anchors):
            move_row(state, row, shares)
            moved.append(row)
    for name in change:
        state.keyframes[name] = corrected[name]
    return moved


def drop_unused_keyframes(state: GraphState, kept: str) -> None:
    """Forget the keyframes that nothing is anchored to, but for one: years of driving make millions of them."""
    used = {name for row in state.table.rows() for name, _ in state.table.record(row).anchors} | {kept}
    state.keyframes = {name: pose for name, pose in state.keyframes.items() if name in used}


def move_row(state: GraphState, row: int, shares: list[tuple[Pose, float]]) -> None:
    """Move a row by the weighted mean of rigid transforms, and enter it where it is now."""
    table = state.table
    old = table.center[row].copy()
    center: FloatArray = np.zeros(3)
    turn_sin, turn_cos = 0.0, 0.0
    for transform, share in shares:
        center += share * transform.apply(old)
        turn_sin += share * np.sin(transform.yaw_rad)
        turn_cos += share * np.cos(transform.yaw_rad)
    table.center[row] = center
    table.yaw[row] = wrap_angle(float(table.yaw[row]) + float(np.arctan2(turn_sin, turn_cos)))
    if not table.removed[row] and row in state.index:
        state.place(row)
