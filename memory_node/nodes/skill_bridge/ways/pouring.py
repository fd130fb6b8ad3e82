"""Pours out what the held vessel has in it: tilts the hand in front of the robot and back."""

from __future__ import annotations

import time

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.nodes.skill_bridge.grasping import tool_pose
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts
from memory_node.nodes.skill_bridge.ways.reaching import tilted

_AHEAD_M = 0.55
_ABOVE_FLOOR_M = 1.0
_TILT_RAD = 2.1  # 120 degrees
_STEPS = 3
_FLOWS_S = 2.0
_POLL_S = 0.05


class Pouring:
    """EmptyObject over what the robot stands at; the vessel is turned about the way that the robot looks."""

    skills = frozenset({"EmptyObject"})

    def __init__(self, parts: RobotParts) -> None:
        self._parts = parts
        self._arm, _ = parts.hands()

    def perform(self, call: PluginCall, run: SkillRun) -> None:
        """Tilt in steps, wait until it has flowed out, and bring the vessel upright; raises SkillFailure."""
        robot = self._parts.robot_pose()
        ahead = robot.rotation.apply(np.array([1.0, 0.0, 0.0]))
        upright = self._upright(robot, ahead)
        angles = np.linspace(0.0, _TILT_RAD, _STEPS + 1)
        for number, angle in enumerate(angles):
            self._arm.move(tilted(upright, ahead, float(angle)), run)
            run.report("manipulating", 0.7 * number / _STEPS)
        self._wait(run)
        self._arm.move(upright, run)
        self._arm.carry(run)
        run.report("manipulating", 1.0)

    def _upright(self, robot: Pose, ahead: FloatArray) -> Pose:
        """Return how the tool holds the vessel upright: from above or from the front, as it was grasped."""
        place = robot.position + _AHEAD_M * ahead + np.array([0.0, 0.0, _ABOVE_FLOOR_M])
        points = np.array([0.0, 0.0, -1.0]) if self._parts.hand.grip.from_above else ahead
        yaw = float(np.arctan2(ahead[1], ahead[0]))
        return tool_pose(place, points, yaw, self._parts.config.arm.ahead_axis)

    @staticmethod
    def _wait(run: SkillRun) -> None:
        deadline_s = time.monotonic() + _FLOWS_S
        while time.monotonic() < deadline_s:
            run.check()
            time.sleep(_POLL_S)
