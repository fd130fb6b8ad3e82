"""What came of earlier poses with a thing or another one of its class puts the candidates of a skill in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import PoseKind, TriedPose
from memory_node.nodes.skill_bridge.target import Target

# Poses no farther apart than this are one try of the same (m, rad).
_SAME_M, _SAME_RAD = 0.12, np.pi / 6
# What a try with another thing of the class counts beside one with the thing itself.
_OF_CLASS = 0.5

Candidate = TypeVar("Candidate")


def tried(kind: PoseKind, target: Target, map_T_pose: Pose, worked: bool) -> TriedPose:
    """Return what is kept of a try."""
    seen = _frame_of(target).inverse() @ map_T_pose
    x, y, z, *turn = (round(float(number), 4) for number in (*seen.position, *seen.quaternion))
    return TriedPose(kind, target.object_id, target.object_class, (x, y, z, turn[0], turn[1], turn[2], turn[3]), worked)


class EarlierPoses:
    """recall: returns the poses that memory holds with things of a class; by default none."""

    def __init__(self, recall: Callable[[str], Iterable[TriedPose]] = lambda _: ()) -> None:
        self._recall = recall

    def ordered(
        self,
        kind: PoseKind,
        target: Target,
        candidates: Sequence[Candidate],
        pose_of: Callable[[Candidate], Pose],
        just_now: Sequence[TriedPose] = (),
    ) -> list[Candidate]:
        """Return candidates in their order, but those that are like what worked first, like what failed last.

        pose_of: returns a candidate's pose in map. just_now: what the running skill has tried.
        """
        recalled = self._recall(target.object_class) if candidates else ()
        earlier = [one for one in (*recalled, *just_now) if one.kind is kind]
        if not earlier:
            return list(candidates)
        map_T_thing = _frame_of(target)
        # The last one tells what is so now: an older one counts half as much each time.
        weighed = [
            (map_T_thing @ _pose(one), _worth(one, target) * 0.5**age) for age, one in enumerate(reversed(earlier))
        ]

        def doubt(candidate: Candidate) -> float:
            pose = pose_of(candidate)
            return -sum(worth for known, worth in weighed if _is_same(known, pose))

        return sorted(candidates, key=doubt)


def _worth(one: TriedPose, target: Target) -> float:
    return (1.0 if one.worked else -1.0) * (1.0 if one.object_id == target.object_id else _OF_CLASS)


def _frame_of(target: Target) -> Pose:
    x, y, z = map(float, target.box.center)
    return Pose.planar(x, y, target.box.yaw_rad, z)


def _pose(one: TriedPose) -> Pose:
    return Pose(np.array(one.numbers[:3]), np.array(one.numbers[3:]))


def _is_same(one: Pose, other: Pose) -> bool:
    if np.linalg.norm(one.position - other.position) > _SAME_M:
        return False
    # The angle between two rotations, from the quaternions' product.
    return bool(2.0 * np.arccos(min(abs(float(one.quaternion @ other.quaternion)), 1.0)) <= _SAME_RAD)
