"""What the hand holds moves with the robot: its sightings are not of another object."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memory_node.domain.observation import Frame
from memory_node.scene_graph.state import ROBOT_ID, GraphState, plain_name

# As far from the camera as an arm holds things while the robot drives.
_HAND_REACH_M = 0.9


def without_held(state: GraphState, frame: Frame) -> Frame:
    """Return the frame without its sightings of held objects; those tell where the held objects are now.

    Of several things of a held object's class within the hand's reach, the one nearest to the camera is taken.
    """
    observations = list(frame.observations)
    for object_id in sorted(state.contents.get(ROBOT_ID, ())):
        row = state.table.row(object_id)
        name = plain_name(state.table.record(row).best_class)
        seen = [
            (_distance(frame, o.box.center), i) for i, o in enumerate(observations) if plain_name(o.best_class) == name
        ]
        distance, index = min(seen, default=(np.inf, -1))
        if distance <= _HAND_REACH_M:
            state.table.center[row] = observations.pop(index).box.center
            state.table.last_seen[row] = max(int(state.table.last_seen[row]), frame.stamp_ns)
    return replace(frame, observations=tuple(observations))


def _distance(frame: Frame, center: np.ndarray) -> float:
    return float(np.linalg.norm(center - frame.map_T_camera.position))
