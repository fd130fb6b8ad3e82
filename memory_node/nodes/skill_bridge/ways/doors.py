"""Opens drawers and doors by a straight pull at the middle of their front, and closes them by a push."""

from __future__ import annotations

from memory_node.domain.geometry import FloatArray
from memory_node.domain.skill import FailureReason
from memory_node.nodes.skill_bridge.outcome import SkillFailure, SkillRun
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts
from memory_node.nodes.skill_bridge.ways.reaching import facing, front_of

_WAY_M = 0.25


class Doors:
    """For drawers, and for doors that follow a short pull by themselves; a stiff hinge needs a way of its own."""

    skills = frozenset({"OpenObject", "CloseObject"})

    def __init__(self, parts: RobotParts) -> None:
        self._parts = parts
        self._arm, self._gripper = parts.hands()

    def perform(self, call: PluginCall, run: SkillRun) -> None:
        """Pull or push.

        Raises:
            SkillFailure: HAND_FULL, UNREACHABLE, or EXECUTION when the gripper closes on no handle.
        """
        if self._parts.hand.held is not None:
            raise SkillFailure(FailureReason.HAND_FULL, f"the hand holds {self._parts.hand.held_class}")
        face, normal = front_of(call.targets["object"].box, self._parts.robot_pose())
        if call.skill.name == "OpenObject":
            self._pull(face, normal, run)
        else:
            self._push(face, normal, run)
        self._arm.carry(run)
        run.report("manipulating", 1.0)

    def _pull(self, handle: FloatArray, normal: FloatArray, run: SkillRun) -> None:
        away_m = self._parts.config.arm.approach_m
        self._gripper.open(run)
        self._go(handle, normal, (away_m, 0.0), run)
        run.report("manipulating", 0.4)
        if not self._gripper.close(run):
            self._gripper.open(run)
            self._go(handle, normal, (away_m,), run)
            raise SkillFailure(FailureReason.EXECUTION, "the gripper closed on no handle")
        self._go(handle, normal, (_WAY_M,), run)
        run.report("manipulating", 0.8)
        self._gripper.open(run)
        self._go(handle, normal, (_WAY_M + away_m,), run)

    def _push(self, face: FloatArray, normal: FloatArray, run: SkillRun) -> None:
        away_m = self._parts.config.arm.approach_m
        self._gripper.close(run)
        self._go(face, normal, (_WAY_M + away_m, 0.0), run)
        run.report("manipulating", 0.8)
        self._go(face, normal, (away_m,), run)

    def _go(self, point: FloatArray, normal: FloatArray, distances_m: tuple[float, ...], run: SkillRun) -> None:
        for distance_m in distances_m:
            self._arm.move(facing(point, normal, distance_m, self._parts.config.arm.ahead_axis), run)
