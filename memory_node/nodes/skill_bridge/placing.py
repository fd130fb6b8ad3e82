"""Where a held thing is put down in or on a receptacle: free spots within reach, ranked (numpy only)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.nodes.skill_bridge.grasping import shifted, tool_pose
from memory_node.nodes.skill_bridge.target import Grip

_STEP_M = 0.05
# Distance from the receptacle's edge, if there is room: positions are known to a few centimetres.
_EDGE_M = 0.04
# Width of an open finger beside the held thing: what is put into a hollow has room for the hand, too.
_HAND_M = 0.03
# First distance between spots that are tried in turn: neighbours mostly fail for the same reason (m).
_APART_M = 0.15
_DOWN = np.array([0.0, 0.0, -1.0])
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
    rooms_m = (_HAND_M, 0.0) if kind is not None and kind.holds == "in" else (0.0,)
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
