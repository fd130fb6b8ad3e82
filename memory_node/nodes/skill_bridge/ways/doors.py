"""Opens drawers by a straight pull and doors by a pull about their hinge, and closes both by a push."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

import numpy as np

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.domain.states import ObjectState
from memory_node.nodes.skill_bridge.grasping import shifted
from memory_node.nodes.skill_bridge.outcome import SkillRun, first_reachable
from memory_node.nodes.skill_bridge.plugins import PluginCall, RobotParts
from memory_node.nodes.skill_bridge.target import Target
from memory_node.nodes.skill_bridge.ways.reaching import Side, advance, facing, side_of

_WAY_M = 0.25
# How far a handle stands out of the remembered front is unknown, so the fingers move in by this step until something
# stops them.
_STEP_M, _HANDLE_M = 0.01, 0.03
# After the fingers found no handle they feel so much deeper for it: a front stands behind where it was when ajar.
_FEEL_M = 0.15
# A pull goes in steps so short that a planner takes them straight: the hand holds on to what moves.
_PULL_STEP_M, _ARC_STEP_M = 0.05, 0.04
_PUSH_STEP_M, _BEYOND_M = 0.05, 0.04
# Sides of the front where the hinge is looked for in turn: +1 is left of its normal, -1 is right of it.
_HINGES = (1, -1, 1)
_SLIDES = (0, 0)
_PUSHES = 2
_MOST_TURN_RAD = 0.9
# How far beyond its usual opening a door may stand that is pushed about its hinge.
_AJAR_RAD = 0.25


class _NoHandleError(SkillFailure):
    """The gripper closed on no handle."""


class Doors:
    """For drawers, and for doors with an upright hinge. What is seen not to have moved is pulled or pushed again.

    A label space tells which classes slide. On which side a door has its hinge is found by trying, and kept.
    """

    skills = frozenset({"OpenObject", "CloseObject"})

    def __init__(self, parts: RobotParts) -> None:
        self._parts = parts
        self._arm, self._gripper = parts.hands()
        self._catalogue = load_catalogue(parts.config.label_space)
        self._handle_m = min(parts.config.gripper.finger_m, _HANDLE_M)
        # The front of what was opened as it was when shut: an open door's box does not tell it.
        self._shut: dict[str, Side] = {}
        self._hinges: dict[str, int] = {}

    def perform(self, call: PluginCall, run: SkillRun) -> None:
        """Pull or push.

        Raises:
            SkillFailure: HAND_FULL, UNREACHABLE, or EXECUTION when the gripper closes on no handle or loses it, or the
                thing is seen not to have moved.
        """
        if self._parts.hand.held is not None:
            raise SkillFailure(FailureReason.HAND_FULL, f"the hand holds {self._parts.hand.held_class}")
        target = call.targets["object"]
        if call.skill.name == "OpenObject":
            self._open(target, run)
        else:
            self._close(target, run)
        run.report("manipulating", 1.0)

    def _open(self, target: Target, run: SkillRun) -> None:
        front = side_of(target.box, self._parts.robot_pose())
        self._shut[target.object_id] = front
        kind = self._catalogue.find(target.object_class)
        known = self._hinges.get(target.object_id)
        hinges = _SLIDES if kind is not None and kind.slides else _HINGES if known is None else (known, known)
        failure: SkillFailure | None = None
        for number, hinge in enumerate(hinges):
            if number:
                # A pull about the wrong edge may have left it ajar, with the handle elsewhere.
                with contextlib.suppress(SkillFailure):
                    self._try(partial(self._push, front, 0, _BEYOND_M), run)
            depth_m = _FEEL_M if isinstance(failure, _NoHandleError) else self._handle_m
            failure = self._try(partial(self._pull, front, hinge, depth_m), run)
            if self._is_so(target, ObjectState.OPENED, failure, run):
                self._hinges[target.object_id] = hinge
                return
        raise failure or _unmoved(target, ObjectState.OPENED)

    def _close(self, target: Target, run: SkillRun) -> None:
        known, hinge = self._shut.get(target.object_id), self._hinges.get(target.object_id, 0)
        failure: SkillFailure | None = None
        for _ in range(_PUSHES):
            face = known or side_of(target.box, self._parts.robot_pose())
            failure = self._try(partial(self._push, face, hinge, _BEYOND_M if known else _WAY_M), run)
            if self._is_so(target, ObjectState.CLOSED, failure, run):
                return
        raise failure or _unmoved(target, ObjectState.CLOSED)

    def _try(self, move: Callable[[SkillRun], None], run: SkillRun) -> SkillFailure | None:
        """Move and fold the arm; return why the motion failed, if it can be tried again."""
        run.report("manipulating", 0.0)
        failure = None
        try:
            move(run)
        except SkillFailure as error:
            if error.reason is not FailureReason.EXECUTION:
                raise
            failure = error
        try:
            self._arm.carry(run)
        except SkillFailure as error:
            failure = failure or error
        return failure

    def _is_so(self, target: Target, wanted: ObjectState, failure: SkillFailure | None, run: SkillRun) -> bool:
        """Return whether it is seen in a state, and fold the arm if it was left out then; where nothing is seen, the
        motion's own end counts."""
        seen = self._parts.look.is_now(target, wanted, run)
        if seen and failure is not None:
            self._arm.carry(run)
        return failure is None if seen is None else seen

    def _pull(self, front: Side, hinge: int, depth_m: float, run: SkillRun) -> None:
        """Take the handle in the middle of a front, up to `depth_m` behind it, and pull it straight, or on an arc about
        its hinge."""
        away_m = self._parts.config.arm.approach_m
        self._gripper.open(run)
        self._go(front, away_m, run)
        run.report("manipulating", 0.2)
        self._go(front, 0.0, run)
        steps = np.arange(-_STEP_M, -depth_m - 1e-9, -_STEP_M)
        inside_m = _STEP_M * advance(self._arm, [self._at(front, float(one)) for one in steps], run)
        run.report("manipulating", 0.4)
        if not self._gripper.close(run):
            self._gripper.open(run)
            self._go(front, away_m, run)
            raise _NoHandleError(FailureReason.EXECUTION, "the gripper closed on no handle")
        sides = self._way_of(front, hinge)
        try:
            reached = advance(self._arm, [self._at(side, -inside_m) for side in sides[1:]], run)
            run.report("manipulating", 0.8)
            held = self._gripper.close(run)
        finally:
            # Let go of it, so that the arm can be folded.
            self._gripper.open(run)
        with contextlib.suppress(SkillFailure):
            # Off the handle; where it was lost, away from the front, which may stand ajar now.
            out = sides[reached].normal if held else front.normal
            self._arm.move(shifted(self._at(sides[reached], -inside_m), away_m * out), run)
        if not reached:
            raise SkillFailure(FailureReason.EXECUTION, "the front does not give way")
        if not held:
            raise SkillFailure(FailureReason.EXECUTION, "the handle slipped out of the gripper")

    def _way_of(self, front: Side, hinge: int) -> list[Side]:
        """Return the front as it moves while it is opened, the shut one first."""
        if hinge == 0:
            return [front.moved(float(out)) for out in np.linspace(0.0, _WAY_M, round(_WAY_M / _PULL_STEP_M) + 1)]
        radius_m = 0.5 * front.width_m
        turn_rad = min(_WAY_M / radius_m, _MOST_TURN_RAD)
        count = int(np.ceil(turn_rad * radius_m / _ARC_STEP_M))
        return [front.swung(hinge, turn_rad * step / count) for step in range(count + 1)]

    def _push(self, front: Side, hinge: int, beyond_m: float, run: SkillRun) -> None:
        """Push until it is shut and the arm is stopped, so far beyond the face at most."""
        self._gripper.close(run)
        way = self._stand_before(self._pushes(front, hinge, beyond_m), run)
        reached = advance(self._arm, way[1:], run)
        run.report("manipulating", 0.8)
        with contextlib.suppress(SkillFailure):
            self._arm.move(shifted(way[reached], self._parts.config.arm.approach_m * front.normal), run)
        if not reached:
            raise SkillFailure(FailureReason.EXECUTION, "the hand cannot push from there")

    def _pushes(self, front: Side, hinge: int, beyond_m: float) -> list[list[Pose]]:
        """Return ways to push a front to where it shuts, best first: about a known hinge, then straight."""
        ways = []
        if hinge:
            radius_m = 0.5 * front.width_m
            open_rad = min(_WAY_M / radius_m, _MOST_TURN_RAD) + _AJAR_RAD
            turns_rad = np.arange(open_rad, -beyond_m / radius_m, -_PUSH_STEP_M / radius_m)
            ways.append([self._at(front.swung(hinge, float(turn)), 0.0) for turn in turns_rad])
        away_m = self._parts.config.arm.approach_m
        for start_m in (_WAY_M + away_m, 0.5 * _WAY_M + away_m, away_m):
            distances_m = np.arange(start_m, -beyond_m - 1e-9, -_PUSH_STEP_M)
            ways.append([self._at(front, float(one)) for one in distances_m])
        return ways

    def _stand_before(self, ways: list[list[Pose]], run: SkillRun) -> list[Pose]:
        """Bring the tool to the start of the first way whose start can be reached; return that way."""

        def go(way: list[Pose]) -> list[Pose]:
            self._arm.move(way[0], run)
            run.report("manipulating", 0.2)
            return way

        return first_reachable(ways, go, "no place before it")

    def _go(self, front: Side, distance_m: float, run: SkillRun) -> None:
        self._arm.move(self._at(front, distance_m), run)

    def _at(self, front: Side, distance_m: float) -> Pose:
        return facing(front.middle, front.normal, distance_m, self._parts.config.arm.ahead_axis)


def _unmoved(target: Target, wanted: ObjectState) -> SkillFailure:
    message = f"{target.object_class} is seen not to be {wanted}"
    return SkillFailure(FailureReason.EXECUTION, message, target.object_id)
