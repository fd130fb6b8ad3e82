"""Where the tool goes to touch a thing: its front, poses in front of it, and how it gets in touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.spatial.transform import Rotation

from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes.skill_bridge.grasping import tool_pose
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.plugins import Arm

_STOPPED = frozenset({FailureReason.UNREACHABLE, FailureReason.EXECUTION})


@runtime_checkable
class PathArm(Protocol):
    """An arm that may bring its link through several poses by one path."""

    @property
    def follows_paths(self) -> bool:
        """Whether it can."""

    def follow(self, poses: Sequence[Pose], run: SkillRun) -> tuple[int, FailureReason]:
        """Return how many poses were reached, and what stopped it, as of `advance_until`."""


@dataclass(frozen=True, eq=False)
class Side:
    """An upright face: its middle and outward unit normal, both (3,) in map, and its width in metres."""

    middle: FloatArray
    normal: FloatArray
    width_m: float

    def moved(self, out_m: float) -> Side:
        """Return the face so far out along its normal."""
        return Side(self.middle + out_m * self.normal, self.normal, self.width_m)

    def swung(self, hinge: int, angle_rad: float) -> Side:
        """Return the face opened by an angle about one of its upright edges: +1 the edge left of the normal, -1 right
        of it."""
        left = np.array([-self.normal[1], self.normal[0], 0.0])
        axis = self.middle + 0.5 * hinge * self.width_m * left
        turn = Rotation.from_rotvec([0.0, 0.0, hinge * angle_rad])
        return Side(axis + turn.apply(self.middle - axis), turn.apply(self.normal), self.width_m)


def side_of(box: OrientedBox, robot: Pose) -> Side:
    """Return the side of a box that looks at the robot."""
    way = robot.position[:2] - box.center[:2]
    normals = [np.array([np.cos(yaw), np.sin(yaw)]) for yaw in box.yaw_rad + 0.5 * np.pi * np.arange(4)]
    # Before which side the robot stands; of a long box, that is not the one whose normal points to the robot best.
    outside = [float(normal @ way) - 0.5 * float(box.size[side % 2]) for side, normal in enumerate(normals)]
    side = int(np.argmax(outside))
    normal = np.array([*normals[side], 0.0])
    return Side(box.center + 0.5 * box.size[side % 2] * normal, normal, float(box.size[1 - side % 2]))


def fronts_of(box: OrientedBox, robot: Pose) -> list[tuple[FloatArray, FloatArray]]:
    """Return middle and outward normal, both (3,) in map, of the front, then of the same point as seen from straight
    before the robot: how a small box is turned is often not known well."""
    front = side_of(box, robot)
    way = np.array([*(robot.position[:2] - box.center[:2]), 0.0])
    straight = way / max(float(np.linalg.norm(way)), 1e-9)
    half = float(np.linalg.norm(front.middle - box.center))
    return [(front.middle, front.normal), (box.center + half * straight, straight)]


def advance(arm: Arm, poses: Sequence[Pose], run: SkillRun) -> int:
    """Bring the tool through poses until something stops it; return how many it reached."""
    return advance_until(arm, poses, run)[0]


def advance_until(arm: Arm, poses: Sequence[Pose], run: SkillRun) -> tuple[int, FailureReason]:
    """Bring the tool through poses until something stops it, by one path where the arm can; return how many it reached,
    and what stopped it: NONE, UNREACHABLE where the arm finds no way on, EXECUTION where it meets something."""
    if isinstance(arm, PathArm) and arm.follows_paths:
        return arm.follow(poses, run)
    for count, pose in enumerate(poses):
        try:
            arm.move(pose, run)
        except SkillFailure as failure:
            if failure.reason not in _STOPPED:
                raise
            return count, failure.reason
    return len(poses), FailureReason.NONE


def facing(point: FloatArray, normal: FloatArray, distance_m: float, axis: str, tilt_rad: float = 0.0) -> Pose:
    """Return the tool pose so far in front of a face, pointing at it; it closes across the horizontal.

    tilt_rad: how far the tool points down from there.
    """
    yaw = float(np.arctan2(-normal[1], -normal[0]))
    ahead = -np.cos(tilt_rad) * normal - np.array([0.0, 0.0, np.sin(tilt_rad)])
    return tool_pose(point + distance_m * normal, ahead, yaw, axis)


def tilted(pose: Pose, axis: FloatArray, angle_rad: float) -> Pose:
    """Return the pose turned in place about an axis (unit, (3,)) in map."""
    half = 0.5 * angle_rad
    turn = Pose(np.zeros(3), np.array([*(np.sin(half) * axis), np.cos(half)]))
    return Pose(pose.position, (turn @ Pose(np.zeros(3), pose.quaternion)).quaternion)
