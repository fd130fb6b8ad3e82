"""Switches things by pressing the middle of their front with the closed gripper."""

from __future__ import annotations

from memory_node.domain.skill import FailureReason
from memory_node.nodes.skill_bridge.outcome import SkillFailure, SkillRun
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts
from memory_node.nodes.skill_bridge.ways.reaching import facing, front_of

_PRESS_M = 0.01  # beyond the face, so that a button goes down


class Switches:
    """For push buttons and rockers: on and off are the same press."""

    skills = frozenset({"ToggleOn", "ToggleOff", "SwitchOn", "SwitchOff"})

    def __init__(self, parts: RobotParts) -> None:
        self._parts = parts
        self._arm, self._gripper = parts.hands()

    def perform(self, call: PluginCall, run: SkillRun) -> None:
        """Press, and draw back; raises SkillFailure."""
        if self._parts.hand.held is not None:
            raise SkillFailure(FailureReason.HAND_FULL, f"the hand holds {self._parts.hand.held_class}")
        arm = self._parts.config.arm
        face, normal = front_of(call.targets["object"].box, self._parts.robot_pose())
        self._gripper.close(run)
        for share, distance_m in ((0.3, arm.approach_m), (0.6, -_PRESS_M), (0.9, arm.approach_m)):
            self._arm.move(facing(face, normal, distance_m, arm.ahead_axis), run)
            run.report("manipulating", share)
        self._arm.carry(run)
