"""Where the gripper takes a thing, and where it is put down in or on a receptacle: poses of the tool, ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.nodes.skill_bridge.target import Grip

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


_STEP_M = 0.05
# Distance from the receptacle's edge, if there is room: positions are known to a few centimetres.
_EDGE_M = 0.04
# Width of an open finger beside the held thing: what is put into a hollow has room for the hand, too.
_BESIDE_M = 0.03
# First distance between spots that are tried in turn: neighbours mostly fail for the same reason (m).
_APART_M = 0.15
_RELEASE_ABOVE_M = 0.01
_HANDY_HEIGHT_M = 0.9
# Tops that differ by no more are as high (m).
_AS_HIGH_M = 0.05


@dataclass(frozen=True, eq=False)
class Placement:
    """Poses of the tool in map before, at and after release, and where the thing's centre then is."""

    before: Pose
    pose: Pose
    after: Pose
    center: FloatArray


def free_spots(
    receptacle: OrientedBox,
    kind: ObjectKind | None,
    held: OrientedBox,
    others: Sequence[OrientedBox],
    furniture: Sequence[OrientedBox] = (),
) -> list[FloatArray]:
    """Return the centres (3,) in map that the held thing may have in or on a receptacle, at every level of its kind.

    others, furniture: what else is close; a spot is free when nothing there would be touched. Where something as high
    overlaps the receptacle, one of the two is remembered too large: such spots are left out if there are any others.
    Within walls the hand should have room beside the thing, too; where nothing is left then, the thing alone has to.
    Where furniture leaves no room at all, it cannot be as it is remembered, and only the others count.
    """
    rooms_m = (_BESIDE_M, 0.0) if kind is not None and kind.holds == "in" else (0.0,)
    for near in ([*others, *furniture], others):
        for room_m in rooms_m:
            spots = _spots(receptacle, kind, held, near, room_m)
            if spots:
                return spots
    return []


def _spots(
    receptacle: OrientedBox,
    kind: ObjectKind | None,
    held: OrientedBox,
    others: Sequence[OrientedBox],
    hand_m: float,
) -> list[FloatArray]:
    radius = 0.5 * float(np.linalg.norm(held.size[:2]))
    spots: list[FloatArray] = []
    sure: list[FloatArray] = []
    for level in kind.levels if kind is not None else (1.0,):
        ground = receptacle.bottom_m + level * float(receptacle.size[2])
        height = ground + 0.5 * float(held.size[2]) + _RELEASE_ABOVE_M
        beside = [other for other in others if abs(other.top_m - ground) <= _AS_HIGH_M]
        for x, y in _grid(receptacle, radius, hand_m):
            center = np.array([x, y, height])
            if not any(_touches(center, radius, 0.5 * float(held.size[2]), other) for other in others):
                spots.append(center)
                if not any(_is_over(center, radius, other) for other in beside):
                    sure.append(center)
    return sure or spots


def rank_placements(
    spots: Sequence[FloatArray],
    robot: Pose,
    grip: Grip,
    kind: ObjectKind | None,
    axis: str,
    approach_m: float,
    reach_m: float,
) -> list[Placement]:
    """Return how to bring the tool to the spots within reach, the nearest to the robot and to a handy height first.

    axis: which of the tool's axes points ahead. A cupboard is entered from the front, all else from above.
    """
    near = [spot for spot in spots if np.linalg.norm(spot[:2] - robot.position[:2]) <= reach_m]
    near.sort(key=lambda s: float(np.linalg.norm(s[:2] - robot.position[:2])) + abs(float(s[2]) - _HANDY_HEIGHT_M))
    cupboard = kind is not None and kind.holds == "in" and kind.can(Property.OPENABLE) and not kind.slides
    return [_placement(spot, robot, grip, cupboard, axis, approach_m) for spot in _spread(near)]


def _spread(spots: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the spots with those first that keep apart from each other; else in their order."""
    first: list[FloatArray] = []
    rest: list[FloatArray] = []
    for spot in spots:
        apart = all(np.linalg.norm(spot - other) >= _APART_M for other in first)
        (first if apart else rest).append(spot)
    return [*first, *rest]


def _placement(spot: FloatArray, robot: Pose, grip: Grip, cupboard: bool, axis: str, approach_m: float) -> Placement:
    way = spot[:2] - robot.position[:2]
    yaw = float(np.arctan2(way[1], way[0]))
    forward = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    # As it was grasped, so that it stands upright.
    tool = spot + np.array([0.0, 0.0, grip.tool_above_m])
    pose = tool_pose(tool, _DOWN if grip.from_above else forward, yaw, axis)
    back = -approach_m * forward
    up = np.array([0.0, 0.0, approach_m])
    before = back + 0.2 * up if cupboard else up
    after = up if grip.from_above and not cupboard else back
    return Placement(shifted(pose, before), pose, shifted(pose, after), spot)


def _grid(box: OrientedBox, radius: float, hand_m: float) -> FloatArray:
    """Return points (n, 2) on the footprint that keep `radius` from its edges; its middle when none does.

    hand_m: width of the hand beside the thing, which then keeps off the edges as far as there is room.
    """
    sides = []
    for half in 0.5 * box.size[:2]:
        room = max(float(half) - radius - hand_m, 0.0)
        room -= min(_EDGE_M, room if hand_m else 0.5 * room)
        sides.append(np.linspace(-room, room, max(int(2.0 * room / _STEP_M), 0) + 1) if room else np.zeros(1))
    x, y = (axis.ravel() for axis in np.meshgrid(*sides))
    cos, sin = np.cos(box.yaw_rad), np.sin(box.yaw_rad)
    return np.column_stack([cos * x - sin * y, sin * x + cos * y]) + box.center[:2]


def _is_over(center: FloatArray, margin: float, other: OrientedBox) -> bool:
    """Return whether a place is above the footprint of another thing, or within a margin of it."""
    return bool(other.contains(np.array([[*center[:2], other.center[2]]]), margin)[0])


def _touches(center: FloatArray, radius: float, half_height: float, other: OrientedBox) -> bool:
    apart = float(np.linalg.norm(center[:2] - other.center[:2]))
    if apart > radius + 0.5 * float(np.linalg.norm(other.size[:2])):
        return False
    return bool(other.bottom_m < center[2] + half_height and other.top_m > center[2] - half_height)
