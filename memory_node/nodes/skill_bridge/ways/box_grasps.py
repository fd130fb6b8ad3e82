"""Grasps from above and from the front, by the box that memory has of a thing."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.nodes.skill_bridge.grasping import Grasp, GripperShape, rank_grasps
from memory_node.nodes.skill_bridge.plugins import RobotParts
from memory_node.nodes.skill_bridge.target import Target


class BoxGrasps:
    """What the bridge grasps by unless the parameter `arm.grasps` names another source."""

    def __init__(self, parts: RobotParts) -> None:
        arm, fingers = parts.config.arm, parts.config.gripper
        self._shape = GripperShape(fingers.opening_m, fingers.finger_m, arm.ahead_axis, fingers.palm_m)
        self._approach_m = arm.approach_m

    def grasps(self, target: Target, robot: Pose, others: Sequence[OrientedBox]) -> list[Grasp]:
        """Return the grasps of the box, best first; [] when it is too wide."""
        return rank_grasps(target.box, robot, others, self._shape, self._approach_m, target.inside)
