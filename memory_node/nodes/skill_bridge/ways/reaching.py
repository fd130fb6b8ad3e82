"""Where the tool goes to touch a thing: its front, and poses in front of it (numpy only)."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.nodes.skill_bridge.grasping import tool_pose


def front_of(box: OrientedBox, robot: Pose) -> tuple[FloatArray, FloatArray]:
    """Return the middle of the vertical face that looks at the robot, and the face's outward normal; both (3,), map."""
    way = robot.position[:2] - box.center[:2]
    normals = [np.array([np.cos(yaw), np.sin(yaw)]) for yaw in box.yaw_rad + 0.5 * np.pi * np.arange(4)]
    side = int(np.argmax([normal @ way for normal in normals]))
    normal = np.array([*normals[side], 0.0])
    return box.center + 0.5 * box.size[side % 2] * normal, normal


def facing(point: FloatArray, normal: FloatArray, distance_m: float, axis: str) -> Pose:
    """Return the tool pose so far in front of a face, pointing at it; it closes across the horizontal."""
    yaw = float(np.arctan2(-normal[1], -normal[0]))
    return tool_pose(point + distance_m * normal, -normal, yaw, axis)


def tilted(pose: Pose, axis: FloatArray, angle_rad: float) -> Pose:
    """Return the pose turned in place about an axis (unit, (3,)) in map."""
    half = 0.5 * angle_rad
    turn = Pose(np.zeros(3), np.array([*(np.sin(half) * axis), np.cos(half)]))
    return Pose(pose.position, (turn @ Pose(np.zeros(3), pose.quaternion)).quaternion)
