"""Where the gripper takes a thing: poses of the tool from above and from the front, ranked (numpy only)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.domain.geometry import FloatArray, OrientedBox, Pose

_OFF_GROUND_M = 0.015  # distance that the tool keeps from the thing's support (m)
_DOWN = np.array([0.0, 0.0, -1.0])
_FRONT_WITHIN_RAD = np.pi / 3  # a face turned further away from the robot cannot be reached from the front


@dataclass(frozen=True)
class GripperShape:
    """The gripper: greatest opening, how deep its fingers are, and which of the tool's axes points ahead ("x", "z").

    The fingers close along the tool's y axis. palm_m: room that the hand needs beside and below a front grasp.
    """

    open_m: float = 0.085
    finger_m: float = 0.04
    ahead: str = "x"
    palm_m: float = 0.05


@dataclass(frozen=True, eq=False)
class Grasp:
    """A pose of the tool in map, and the poses before and after it; score in [0, 1]."""

    before: Pose
    pose: Pose
    after: Pose
    from_above: bool
    score: float


def rank_grasps(
    box: OrientedBox,
    robot: Pose,
    others: Sequence[OrientedBox],
    shape: GripperShape,
    approach_m: float,
    inside: bool = False,
) -> list[Grasp]:
    """Return tool poses that take the thing, best first; [] when it is too wide for the gripper.

    Ranked by how well the width fits, how little the wrist turns away from the robot's direction, and how much of the
    approach is clear of `others`. A thing inside another is taken from the front first.
    """
    way = box.center[:2] - robot.position[:2]
    heading = float(np.arctan2(way[1], way[0]))
    grasps = []
    for from_above in (True, False):
        for yaw in (box.yaw_rad + quarter * np.pi / 2 for quarter in range(4)):
            grasp = _grasp(box, heading, yaw, from_above, others, shape, approach_m)
            if grasp is not None:
                preferred = from_above != inside
                grasps.append((preferred, grasp))
    grasps.sort(key=lambda entry: (entry[0], entry[1].score), reverse=True)
    return [grasp for _, grasp in grasps]


def tool_pose(position: FloatArray, ahead: FloatArray, yaw_rad: float, axis: str) -> Pose:
    """Return the pose of a tool that points `ahead` (unit, (3,)) and closes across the horizontal direction of yaw.

    axis: which of the tool's own axes points ahead, "x" or "z"; y is the one that the fingers close along.
    """
    close = np.array([-np.sin(yaw_rad), np.cos(yaw_rad), 0.0])
    third = np.cross(ahead, close)
    # x, y, z: right-handed either way
    columns = [ahead, close, third] if axis == "x" else [-third, close, ahead]
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack(columns)
    matrix[:3, 3] = position
    return Pose.from_matrix(matrix)


def shifted(pose: Pose, offset: FloatArray) -> Pose:
    """Return the pose moved by an offset (3,) in map."""
    return Pose(pose.position + offset, pose.quaternion)


def _grasp(
    box: OrientedBox,
    heading: float,
    yaw: float,
    from_above: bool,
    others: Sequence[OrientedBox],
    shape: GripperShape,
    approach_m: float,
) -> Grasp | None:
    """Return the grasp whose fingers close across the horizontal direction `yaw`, a side of the box."""
    turn = abs(float((yaw - heading + np.pi) % (2.0 * np.pi) - np.pi))
    width = float(box.size[1] if round((yaw - box.yaw_rad) / (np.pi / 2)) % 2 == 0 else box.size[0])
    if width > shape.open_m:
        return None
    if from_above:
        ahead = _DOWN
        height_m = float(box.size[2])
        # Below the middle if there is room: round things slip out of fingers that end at their widest place.
        depth = min(shape.finger_m, max(0.5 * height_m, height_m - _OFF_GROUND_M))
        position = np.array([*box.center[:2], box.top_m - depth])
        after = np.array([0.0, 0.0, approach_m])
    else:
        if turn > _FRONT_WITHIN_RAD or box.size[2] < shape.palm_m:
            return None
        ahead = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        position = box.center
        after = -approach_m * ahead + np.array([0.0, 0.0, 0.3 * approach_m])
    pose = tool_pose(position, ahead, yaw, shape.ahead)
    before = shifted(pose, -approach_m * ahead)
    way = before.position + np.linspace(0.0, 1.0, 8)[:, None] * (pose.position - before.position)
    clear = np.mean([not any(bool(other.contains(point[None], shape.palm_m)[0]) for other in others) for point in way])
    fit = 1.0 - width / shape.open_m
    score = (fit + (1.0 - turn / np.pi) + 2.0 * float(clear)) / 4.0
    return Grasp(before, pose, shifted(pose, after), from_above, score)
