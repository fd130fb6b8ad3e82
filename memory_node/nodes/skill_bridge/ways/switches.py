"""Switches things by pressing the middle of their front with the closed gripper until it gives way no further."""

from __future__ import annotations

import contextlib

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.domain.states import ObjectState
from memory_node.nodes.skill_bridge.outcome import SkillRun, first_reachable
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts
from memory_node.nodes.skill_bridge.target import Target
from memory_node.nodes.skill_bridge.ways.reaching import advance_until, facing, fronts_of

# From short of the remembered face to beyond it: where a face is, is known to a few centimetres.
_FROM_M, _TO_M, _STEP_M = 0.02, -0.04, 0.01
_PRESSES = 3
# How far the hand points down.
_TILTS_RAD = (0.0, 0.6)
_ON = frozenset({"ToggleOn", "SwitchOn"})


class Switches:
    """For push buttons and rockers: on and off are the same press. One that is seen not to have switched is pressed
    again."""

    skills = frozenset({"ToggleOn", "ToggleOff", "SwitchOn", "SwitchOff"})

    def __init__(self, parts: RobotParts) -> None:
        self._parts = parts
        self._arm, self._gripper = parts.hands()

    def perform(self, call: PluginCall, run: SkillRun) -> None:
        """Press, and draw back.

        Raises:
            SkillFailure: HAND_FULL, UNREACHABLE, or EXECUTION when it is seen not to have switched.
        """
        if self._parts.hand.held is not None:
            raise SkillFailure(FailureReason.HAND_FULL, f"the hand holds {self._parts.hand.held_class}")
        target = call.targets["object"]
        wanted = ObjectState.ON if call.skill.name in _ON else ObjectState.OFF
        failure: SkillFailure | None = None
        for _ in range(_PRESSES):
            failure, is_short = self._try(target, run)
            seen = self._parts.look.is_now(target, wanted, run)
            if seen or (seen is None and failure is None):
                if failure is not None:
                    self._arm.carry(run)
                return
            if is_short and self._parts.config.base.repositions:
                message = f"the arm does not come far enough into {target.object_class} from here"
                raise SkillFailure(FailureReason.UNREACHABLE, message, target.object_id)
        message = f"{target.object_class} was pressed {_PRESSES} times and is not {wanted}"
        raise failure or SkillFailure(FailureReason.EXECUTION, message, target.object_id)

    def _try(self, target: Target, run: SkillRun) -> tuple[SkillFailure | None, bool]:
        """Press and fold the arm; return what stopped the arm on its way, if something did, and whether the press was
        short."""
        run.report("manipulating", 0.0)
        self._gripper.close(run)
        is_short = False
        try:
            is_short = self._press(target, run)
            self._arm.carry(run)
        except SkillFailure as failure:
            if failure.reason is not FailureReason.EXECUTION:
                raise
            with contextlib.suppress(SkillFailure):
                self._arm.carry(run)
            return failure, is_short
        run.report("manipulating", 0.9)
        return None, is_short

    def _press(self, target: Target, run: SkillRun) -> bool:
        """Press by the first way that the arm can go: level, or down over what stands before the thing. Return whether
        the arm found no way on before it met something."""
        ways = (
            (face, normal, tilt_rad)
            for tilt_rad in _TILTS_RAD
            for face, normal in fronts_of(target.box, self._parts.robot_pose())
        )
        return first_reachable(ways, lambda way: self._press_at(*way, run), "no face to press", target.object_id)

    def _press_at(self, face: FloatArray, normal: FloatArray, tilt_rad: float, run: SkillRun) -> bool:
        arm = self._parts.config.arm

        def at(distance_m: float) -> Pose:
            return facing(face, normal, distance_m, arm.ahead_axis, tilt_rad)

        before = at(arm.approach_m)
        self._arm.move(before, run)
        run.report("manipulating", 0.3)
        count = round((_FROM_M - _TO_M) / _STEP_M)
        poses = [at(float(one)) for one in np.linspace(_FROM_M, _TO_M, count + 1)]
        reached, stopped_by = advance_until(self._arm, poses, run)
        if not reached:
            message = "the hand does not come to the face"
            raise SkillFailure(FailureReason.UNREACHABLE, message)
        # The fold that follows leaves the face, too, where the straight way back is closed.
        with contextlib.suppress(SkillFailure):
            self._arm.move(before, run)
        return stopped_by is FailureReason.UNREACHABLE
