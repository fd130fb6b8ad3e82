"""Moves the whole graph when its map has got another origin; ids stay."""

from __future__ import annotations

from dataclasses import replace

from memory_node.domain.geometry import Pose
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.pose_correction import move_row
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
