"""Where the gripper takes a thing: poses of the tool from above and from the front, ranked (numpy only)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.domain.geometry import FloatArray, OrientedBox, Pose

_OFF_GROUND_M = 0.015  # distance that the tool keeps from the thing's support (m)
_DOWN = np.array([0.0, 0.0, -1.0])
_FRONT_WITHIN_RAD = np.pi / 3  # a face turned further away from the robot cannot be reached from the front
# A footprint whose sides differ by no more than this share may be round: it is taken across any direction.
_ROUND_SHARE = 0.8
_ROUND_TURNS, _SQUARE_TURNS = 16, 4
# Room on each side of a thing between the open fingers from which more is no better (m).
_ROOMY_M = 0.015
# Of the hand, as far as other things are in its way: width of a finger along the way that it closes, half its depth
# across, and how far the hand extends behind the fingers (m).
_FINGER_WIDE_M, _FINGER_HALF_M, _HAND_M = 0.02, 0.012, 0.12
# A second try at a flat thing, higher by this much (m), and the score that it costs.
_RAISED_M, _RAISED_COST = 0.006, 0.01
# Grasps of the preferred kind that are tried before the others: what hinders one often hinders all of its kind.
_PREFERRED_FIRST = 5


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

    Ranked by how much of the hand on its way is clear of `others`, how well the width fits, and how little the wrist
    turns away from the robot's direction. A thing inside another is taken from the front first.
    """
    way = box.center[:2] - robot.position[:2]
    heading = float(np.arctan2(way[1], way[0]))
    narrow, wide = sorted(float(side) for side in box.size[:2])
    turns = _ROUND_TURNS if narrow >= _ROUND_SHARE * wide else _SQUARE_TURNS
    yaws = [box.yaw_rad + turn * 2.0 * np.pi / turns for turn in range(turns)]
    made = [
        _grasp(box, heading, yaw, from_above, others, shape, approach_m) for from_above in (True, False) for yaw in yaws
    ]
    found = [grasp for grasp in made if grasp is not None]
    if box.size[2] < 2.0 * _OFF_GROUND_M:
        found += [_raised(grasp) for grasp in found if grasp.from_above]
    grasps = sorted(found, key=lambda grasp: grasp.score, reverse=True)
    preferred = [grasp for grasp in grasps if grasp.from_above != inside]
    rest = [grasp for grasp in grasps if grasp.from_above == inside]
    return [*preferred[:_PREFERRED_FIRST], *rest, *preferred[_PREFERRED_FIRST:]]


def _raised(grasp: Grasp) -> Grasp:
    """Return the grasp a little higher, which comes after it: the height of a flat thing is not known to millimetres,
    and fingers that press on its support neither get there nor close."""
    up = np.array([0.0, 0.0, _RAISED_M])
    before, pose, after = (shifted(one, up) for one in (grasp.before, grasp.pose, grasp.after))
    return Grasp(before, pose, after, grasp.from_above, grasp.score - _RAISED_COST)


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
    """Return the grasp whose fingers close across the horizontal direction `yaw`."""
    turn = abs(float((yaw - heading + np.pi) % (2.0 * np.pi) - np.pi))
    width = _width(box, yaw)
    # Between its sides a thing that may be round is no wider than its box; one with corners turns in the fingers.
    if min(width, float(box.size[:2].max())) > shape.open_m:
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
    clear = _clearness(position, ahead, yaw, others, shape, approach_m)
    fit = float(np.clip((0.5 * shape.open_m - 0.5 * width) / _ROOMY_M, 0.0, 1.0))
    score = (fit + (1.0 - turn / np.pi) + 3.0 * clear) / 5.0
    return Grasp(before, pose, shifted(pose, after), from_above, score)


def _width(box: OrientedBox, yaw: float) -> float:
    """Return how far a footprint extends across the direction `yaw`, in metres."""
    turn = yaw - box.yaw_rad
    return float(box.size[0] * abs(np.sin(turn)) + box.size[1] * abs(np.cos(turn)))


def _clearness(
    position: FloatArray,
    ahead: FloatArray,
    yaw: float,
    others: Sequence[OrientedBox],
    shape: GripperShape,
    approach_m: float,
) -> float:
    """Return 1 if the open fingers and the hand keep off others on the straight way to a grasp, else at most a half:
    less the more of the hand would touch."""
    across = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    third = np.cross(ahead, across)
    finger_at = 0.5 * (shape.open_m + _FINGER_WIDE_M)
    fingers = [
        side * across * finger_at + along * ahead + deep * third
        for side in (-1.0, 1.0)
        for along in (0.0, -0.5 * shape.finger_m, -shape.finger_m)
        for deep in (-_FINGER_HALF_M, 0.0, _FINGER_HALF_M)
    ]
    hand = [
        side * across * finger_at + along * ahead + deep * third
        for side in (-1.0, 0.0, 1.0)
        for along in (-shape.finger_m, -shape.finger_m - _HAND_M)
        for deep in (-shape.palm_m, 0.0, shape.palm_m)
    ]
    points = position + np.array([*fingers, *hand])
    swept = np.vstack([points - back * ahead for back in np.linspace(0.0, approach_m, 4)])
    touched = np.zeros(len(swept), bool)
    for other in others:
        touched |= other.contains(swept, 0.5 * _FINGER_WIDE_M)
    return 0.5 * float(1.0 - touched.mean()) if touched.any() else 1.0
