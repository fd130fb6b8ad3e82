"""What the arm does through MoveIt: pick a thing up, and put it down in or on a receptacle."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.skill import FailureReason, PoseKind, SkillFailure, StateChange
from memory_node.domain.skill_library import declaration
from memory_node.nodes.skill_bridge.grasping import Grasp, Placement, free_spots, rank_placements
from memory_node.nodes.skill_bridge.outcome import EarlierPoses, SkillRun, first_reachable
from memory_node.nodes.skill_bridge.plugins import GRASPS_GROUP, GraspSource, RobotParts, load_plugin
from memory_node.nodes.skill_bridge.target import Grip, Target, TargetLookup
from memory_node.world.skills import declared_changes

# The foot of a thing may be hidden by this much, however little of the thing is seen (m).
_HIDDEN_M = 0.05


@dataclass(eq=False)
class Manipulation:
    """Pick and place with arm and gripper, around the things that memory knows."""

    parts: RobotParts
    lookup: TargetLookup
    catalogue: ObjectCatalogue
    now_ns: Callable[[], int]
    earlier: EarlierPoses

    def __post_init__(self) -> None:
        self.arm, self.gripper = self.parts.hands()
        self.hand, self.look = self.parts.hand, self.parts.look
        self.grasps: GraspSource = load_plugin(GRASPS_GROUP, self.parts.config.arm.grasps)(self.parts)

    def pick(self, target: Target, run: SkillRun) -> tuple[StateChange, ...]:
        """Grasp a thing and draw it back; return what changed.

        Raises:
            SkillFailure: WRONG_OBJECT, UNREACHABLE, or EXECUTION when the gripper closes on nothing, or the thing slips
                out of the hand on its way.
        """
        grasps = self._grasps_of(target)
        if not grasps and self.look.looks:
            # From afar it may have looked too wide.
            target = self.look.again(target, run)
            grasps = self._grasps_of(target)
        target = self._grounded(target)
        if not grasps:
            narrowest_m = float(target.box.size[:2].min())
            message = (
                f"no grasp for {target.object_class}: it is {narrowest_m:.3f} m wide at least, the gripper opens "
                f"{self.parts.config.gripper.opening_m:.3f} m (parameters gripper.opening_m, arm.grasps)"
            )
            raise SkillFailure(FailureReason.WRONG_OBJECT, message, target.object_id)
        run.report("manipulating", 0.0)
        self.gripper.open(run)
        grasps = self.earlier.ordered(PoseKind.GRASP, target, grasps, lambda one: one.pose, run.tried)
        chosen = self._reach([(grasp.before, grasp.pose) for grasp in grasps], run)
        grasp = grasps[chosen]
        run.report("manipulating", 0.6)
        with run.trying(PoseKind.GRASP, target, grasp.pose):
            changes = self._take(target, grasp, run)
        run.report("manipulating", 1.0)
        return changes

    def _take(self, target: Target, grasp: Grasp, run: SkillRun) -> tuple[StateChange, ...]:
        """Close the gripper, which is at a grasp, and draw back; return what changed; raises as `pick`."""
        if not self.gripper.close(run):
            self.gripper.open(run)
            self.arm.move(grasp.after, run)
            raise SkillFailure(FailureReason.EXECUTION, "the gripper closed on nothing", target.object_id)
        # From here on the thing is in the hand, even if the retreat fails.
        above_m = float(grasp.pose.position[2] - target.box.center[2])
        self.hand.take(target, Grip(grasp.from_above, above_m))
        changes = declared_changes(declaration("PickupObject"), {"object": target}, self.now_ns())
        run.changed(changes)
        self.lookup.note(target, changes[0])
        self.arm.move(grasp.after, run)
        self.arm.carry(run)
        self._require_held(target, run)
        return changes

    def put(self, held: Target, receptacle: Target, run: SkillRun) -> tuple[StateChange, ...]:
        """Put the held thing in or on a receptacle; return what changed.

        Raises:
            SkillFailure: OCCUPIED, TOO_FAR or UNREACHABLE; EXECUTION when the gripper does not open or holds nothing,
                or the thing is seen elsewhere afterwards.
        """
        self._require_held(held, run)
        known = self.look.known(held.object_class)
        kind = self.catalogue.find(receptacle.object_class)
        around = [other for other in self.lookup.around(receptacle) if other.object_id != held.object_id]
        furniture = [other.box for other in around if self._is_furniture(other)]
        others = [other.box for other in around if not self._is_furniture(other)]
        spots = free_spots(receptacle.box, kind, held.box, others, furniture)
        if not spots:
            message = f"no room left at {receptacle.object_class}"
            raise SkillFailure(FailureReason.OCCUPIED, message, receptacle.object_id)
        arm, reach_m = self.parts.config.arm, self.parts.config.base.reach_m
        robot = self.parts.robot_pose()
        placements = rank_placements(spots, robot, self.hand.grip, kind, arm.ahead_axis, arm.approach_m, reach_m)
        if not placements:
            message = f"every free spot of {receptacle.object_class} is more than {reach_m:g} m away"
            raise SkillFailure(FailureReason.TOO_FAR, message, receptacle.object_id)
        run.report("manipulating", 0.0)

        def spot(placement: Placement) -> Pose:
            x, y, z = map(float, placement.center)
            return Pose.planar(x, y, receptacle.box.yaw_rad, z)

        placements = self.earlier.ordered(PoseKind.SPOT, receptacle, placements, spot, run.tried)
        chosen = self._reach([(placement.before, placement.pose) for placement in placements], run)
        placement = placements[chosen]
        run.report("manipulating", 0.6)
        # It may have been knocked out of the hand on the way.
        self._require_held(held, run)
        self.gripper.open(run)
        self.hand.release()
        x, y, z = (float(value) for value in placement.center)
        inside = kind is not None and kind.holds == "in"
        bound = {"object": held, "receptacle": receptacle}
        changes = declared_changes(declaration("PutObject"), bound, self.now_ns(), inside, (x, y, z))
        run.changed(changes)
        self.lookup.note(held, changes[0])
        with run.trying(PoseKind.SPOT, receptacle, spot(placement)):
            self.arm.move(placement.after, run)
            self._require_empty(held, run)
            self.arm.carry(run)
            self._require_there(held, placement.center, known, run)
        run.report("manipulating", 1.0)
        return changes

    def _is_furniture(self, target: Target) -> bool:
        kind = self.catalogue.find(target.object_class)
        return kind is not None and not kind.pickupable

    def fold(self, run: SkillRun) -> None:
        """Bring the arm in after a skill that failed, if it can; the base is to drive without hitting anything."""
        with contextlib.suppress(SkillFailure):
            self.arm.carry(run)

    def _require_there(self, put: Target, center: FloatArray, known: frozenset[str], run: SkillRun) -> None:
        """Look at what was put down.

        Raises:
            SkillFailure: EXECUTION, it is seen to lie elsewhere.
        """
        place = self.look.is_at(put, center, known, run)
        if place is None:
            return
        x, y, z = (float(value) for value in place)
        raise self._told(put, run, "does not stand where it was put down", position=(x, y, z), held=False)

    def _grasps_of(self, target: Target) -> list[Grasp]:
        others = [other.box for other in self.lookup.around(target)]
        return self.grasps.grasps(self._grounded(target), self.parts.robot_pose(), others)

    def _grounded(self, target: Target) -> Target:
        """Return a thing whose box reaches down to what it stands on: from above a camera sees little of its foot."""
        support = None if target.inside else self.lookup.support_of(target)
        if support is None:
            return target
        hidden_m = float(target.box.bottom_m - support.box.top_m)
        if not 0.0 < hidden_m < max(float(target.box.size[2]), _HIDDEN_M):
            return target
        down = np.array([0.0, 0.0, hidden_m])
        box = OrientedBox(target.box.center - 0.5 * down, target.box.size + down, target.box.yaw_rad)
        return replace(target, box=box)

    def _require_held(self, held: Target, run: SkillRun) -> None:
        """Close the gripper once more on what it is to hold.

        Raises:
            SkillFailure: EXECUTION, it closes on nothing: the thing was lost, and memory is told so.
        """
        if self.gripper.close(run):
            return
        self.hand.release()
        raise self._told(held, run, "slipped out of the hand", held=False)

    def _require_empty(self, put: Target, run: SkillRun) -> None:
        """Close the gripper on what was put down, if results are looked at: a thing as wide as the opening stays in it.

        Raises:
            SkillFailure: EXECUTION, it is still in the hand, and memory is told so.
        """
        if not self.look.looks or not self.gripper.close(run):
            return
        self.hand.take(put, self.hand.grip)
        raise self._told(put, run, "stays in the hand", held=True)

    def _told(self, thing: Target, run: SkillRun, what: str, **change: Any) -> SkillFailure:
        """Note a change that was not wanted, and return the failure that says what happened to the thing."""
        unwanted = StateChange(thing.object_id, thing.object_class, self.now_ns(), **change)
        run.changed((unwanted,))
        self.lookup.note(thing, unwanted)
        return SkillFailure(FailureReason.EXECUTION, f"{thing.object_class} {what}", thing.object_id)

    def _reach(self, ways: list[tuple[Pose, Pose]], run: SkillRun) -> int:
        """Bring the link along the first way (before, at) that MoveIt can go; return which one."""

        def go(index: int) -> int:
            before, pose = ways[index]
            self.arm.move(before, run)
            run.report("manipulating", 0.3)
            self.arm.move(pose, run)
            return index

        return first_reachable(range(len(ways[: self.parts.config.arm.candidates])), go, "no way to try")
