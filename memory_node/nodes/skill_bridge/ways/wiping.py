"""Cleans what the hand holds by rubbing it on a thing: a sponge, a cloth on a counter."""

from __future__ import annotations

import numpy as np

from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes.skill_bridge.grasping import shifted, tool_pose
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts

_STROKES = 4
_HALF_STROKE_M = 0.06


class Wiping:
    """CleanObject(object, fixture): strokes across the fixture's top. For robots without a tap to wash at."""

    skills = frozenset({"CleanObject"})

    def __init__(self, parts: RobotParts) -> None:
        self._parts = parts
        self._arm, _ = parts.hands()

    def perform(self, call: PluginCall, run: SkillRun) -> None:
        """Rub to and fro.

        Raises:
            SkillFailure: INVALID_CALL without a fixture; UNREACHABLE.
        """
        fixture = call.targets.get("fixture")
        if fixture is None:
            raise SkillFailure(FailureReason.INVALID_CALL, "expected CleanObject(object, fixture): on what?")
        arm = self._parts.config.arm
        robot = self._parts.robot_pose()
        way = fixture.box.center[:2] - robot.position[:2]
        yaw = float(np.arctan2(way[1], way[0]))
        held = self._parts.hand.held
        above_m = self._parts.hand.grip.tool_above_m + (0.5 * float(held.box.size[2]) if held is not None else 0.0)
        top = np.array([*fixture.box.center[:2], fixture.box.top_m + above_m])
        down = tool_pose(top, np.array([0.0, 0.0, -1.0]), yaw, arm.ahead_axis)
        lifted = shifted(down, np.array([0.0, 0.0, arm.approach_m]))
        across = _HALF_STROKE_M * np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        self._arm.move(lifted, run)
        for stroke in range(_STROKES):
            for side in (across, -across):
                self._arm.move(shifted(down, side), run)
            run.report("manipulating", (stroke + 1.0) / (_STROKES + 1.0))
        self._arm.move(lifted, run)
        self._arm.carry(run)
