"""Opens drawers and doors by a straight pull at the middle of their front, and closes them by a push."""

from __future__ import annotations

import contextlib

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.skill import FailureReason
from memory_node.domain.states import ObjectState
from memory_node.nodes.skill_bridge.outcome import SkillFailure, SkillRun
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts
from memory_node.nodes.skill_bridge.target import Target
from memory_node.nodes.skill_bridge.ways.reaching import advance, facing, front_of

_WAY_M = 0.25
# How far a handle stands out of the remembered front is unknown, so the fingers move in by this step until something
# stops them.
_STEP_M, _HANDLE_M = 0.01, 0.03
_PUSH_STEP_M, _BEYOND_M = 0.05, 0.04
_TRIES = 2


class Doors:
    """For drawers, and for doors that follow a short pull by themselves; a stiff hinge needs a way of its own. What is
    seen not to have moved is pulled or pushed again."""

    skills = frozenset({"OpenObject", "CloseObject"})

    def __init__(self, parts: RobotParts) -> None:
        self._parts = parts
        self._arm, self._gripper = parts.hands()
        # Where the front was of what was opened: an open door's box does not tell where it shuts.
        self._shut: dict[str, tuple[FloatArray, FloatArray]] = {}

    def perform(self, call: PluginCall, run: SkillRun) -> None:
        """Pull or push.

        Raises:
            SkillFailure: HAND_FULL, UNREACHABLE, or EXECUTION when the gripper closes on no handle, or it is seen not
                to have moved.
        """
        if self._parts.hand.held is not None:
            raise SkillFailure(FailureReason.HAND_FULL, f"the hand holds {self._parts.hand.held_class}")
        target = call.targets["object"]
        opens = call.skill.name == "OpenObject"
        wanted = ObjectState.OPENED if opens else ObjectState.CLOSED
        for last in (False,) * (_TRIES - 1) + (True,):
            try:
                self._once(target, opens, run)
            except SkillFailure as failure:
                if last or failure.reason is not FailureReason.EXECUTION:
                    raise
                continue
            look = self._parts.look
            if look is None or look.is_now(target, wanted, run) is not False:
                run.report("manipulating", 1.0)
                return
        message = f"{target.object_class} is seen not to be {wanted}"
        raise SkillFailure(FailureReason.EXECUTION, message, target.object_id)

    def _once(self, target: Target, opens: bool, run: SkillRun) -> None:
        run.report("manipulating", 0.0)
        face, normal = front_of(target.box, self._parts.robot_pose())
        if opens:
            self._shut[target.object_id] = (face, normal)
            self._pull(face, normal, run)
        else:
            known = self._shut.get(target.object_id)
            self._push(*(known or (face, normal)), _BEYOND_M if known else _WAY_M, run)
        self._arm.carry(run)

    def _pull(self, handle: FloatArray, normal: FloatArray, run: SkillRun) -> None:
        away_m = self._parts.config.arm.approach_m
        self._gripper.open(run)
        self._go(handle, normal, away_m, run)
        run.report("manipulating", 0.2)
        self._go(handle, normal, 0.0, run)
        depth_m = min(self._parts.config.gripper.finger_m, _HANDLE_M)
        steps = np.arange(-_STEP_M, -depth_m - 1e-9, -_STEP_M)
        reached = advance(self._arm, [self._at(handle, normal, float(one)) for one in steps], run)
        run.report("manipulating", 0.4)
        if not self._gripper.close(run):
            self._gripper.open(run)
            self._go(handle, normal, away_m, run)
            raise SkillFailure(FailureReason.EXECUTION, "the gripper closed on no handle")
        pulled_m = _WAY_M - reached * _STEP_M
        try:
            self._go(handle, normal, pulled_m, run)
        except SkillFailure:
            # Let go of it, so that the arm can be folded.
            with contextlib.suppress(SkillFailure):
                self._gripper.open(run)
                self._go(handle, normal, away_m, run)
            raise
        run.report("manipulating", 0.8)
        self._gripper.open(run)
        self._go(handle, normal, pulled_m + away_m, run)

    def _push(self, face: FloatArray, normal: FloatArray, beyond_m: float, run: SkillRun) -> None:
        """Push until it is shut and the arm is stopped, so far beyond the face at most."""
        away_m = self._parts.config.arm.approach_m
        self._gripper.close(run)
        start_m = self._stand_before(face, normal, (_WAY_M + away_m, away_m), run)
        steps = np.arange(start_m - _PUSH_STEP_M, -beyond_m - 1e-9, -_PUSH_STEP_M)
        reached = advance(self._arm, [self._at(face, normal, float(one)) for one in steps], run)
        run.report("manipulating", 0.8)
        self._go(face, normal, start_m - reached * _PUSH_STEP_M + away_m, run)

    def _stand_before(
        self, face: FloatArray, normal: FloatArray, distances_m: tuple[float, ...], run: SkillRun
    ) -> float:
        """Bring the tool before a face, from the first of the distances that can be reached; return it."""
        failure = SkillFailure(FailureReason.UNREACHABLE, "no place before it")
        for distance_m in distances_m:
            try:
                self._go(face, normal, distance_m, run)
                run.report("manipulating", 0.2)
                return distance_m
            except SkillFailure as error:
                if error.reason is not FailureReason.UNREACHABLE:
                    raise
                failure = error
        raise failure

    def _go(self, point: FloatArray, normal: FloatArray, distance_m: float, run: SkillRun) -> None:
        self._arm.move(self._at(point, normal, distance_m), run)

    def _at(self, point: FloatArray, normal: FloatArray, distance_m: float) -> Pose:
        return facing(point, normal, distance_m, self._parts.config.arm.ahead_axis)
