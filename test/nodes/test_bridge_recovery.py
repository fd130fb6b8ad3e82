"""What the bridge does when the arm finds no way, a thing stays in the hand, or memory has merged an id away."""

from collections.abc import Sequence

import numpy as np
import pytest
from skill_robot import kitchen, thing
from test_skill_bridge_rules import ListMemory, OwnActions, lookup, run

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure
from memory_node.nodes.skill_bridge.config import ArmParameters, BaseParameters, ExploreParameters
from memory_node.nodes.skill_bridge.driving import Driving, used_from_front
from memory_node.nodes.skill_bridge.grasping import Grasp, GripperShape, rank_grasps
from memory_node.nodes.skill_bridge.manipulation import Manipulation
from memory_node.nodes.skill_bridge.object_lookup import TargetLookup
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.performer import SkillPerformer
from memory_node.nodes.skill_bridge.preconditions import Preconditions
from memory_node.nodes.skill_bridge.second_look import SecondLook
from memory_node.nodes.skill_bridge.target import Hand, Target
from memory_node.planner.stand_off_poses import Costmap, StandOffConfig

REACH_M = 3.0


class SmallRobot:
    """Base, arm, gripper and view in one; the arm finds a way only within some metres of the base.

    sticky: what is in the gripper stays there when it opens. misses: so many times the fingers close on nothing first.
    """

    def __init__(self, arm_m: float, sticky: bool = False, misses: int = 0) -> None:
        self.pose = Pose.planar(0.6, 0.2, 0.0)
        self.drives: list[Pose] = []
        self.open_again = False
        self._arm_m = arm_m
        self._sticky = sticky
        self._misses = misses
        self._grasped = False

    def robot_pose(self) -> Pose:
        return self.pose

    def catch_up(self) -> None:
        """The pose is never late."""

    def costmap(self) -> Costmap:
        return Costmap(np.zeros((120, 120), np.int8), 0.05, (-3.0, -3.0))

    def drive(self, goal: Pose, run: SkillRun) -> None:
        self.drives.append(goal)
        self.pose = goal

    def move(self, map_T_link: Pose, run: SkillRun) -> None:
        if np.linalg.norm((map_T_link.position - self.pose.position)[:2]) > self._arm_m:
            raise SkillFailure(FailureReason.UNREACHABLE, "no way")

    def carry(self, run: SkillRun) -> None:
        """Nothing is in the way."""

    def open(self, run: SkillRun) -> None:
        self._grasped = self._grasped and self._sticky

    def close(self, run: SkillRun) -> bool:
        if self._misses:
            self._misses -= 1
            return False
        self._grasped = self._grasped or not self.open_again
        self.open_again = True
        return self._grasped


class Boxes:
    """Grasps by the remembered box."""

    def grasps(self, target: Target, robot: Pose, others: Sequence[OrientedBox]) -> list[Grasp]:
        return rank_grasps(target.box, robot, others, GripperShape(), 0.1)


def performer(robot: SmallRobot, repositions: int) -> tuple[SkillPerformer, Hand]:
    hand = Hand()
    hand.release()
    found = lookup(kitchen(), hand)
    catalogue = load_catalogue()
    look = SecondLook(found, lambda: 1, 0.5, lambda _: None)
    arm = ArmParameters(candidates=4)
    manipulation = Manipulation(
        robot, robot, Boxes(), hand, found, catalogue, robot.robot_pose, lambda: 1, arm, REACH_M, 0.085, look
    )
    driving = Driving(robot, robot, found, BaseParameters(), ExploreParameters(), StandOffConfig(), lambda: 1)
    rules = Preconditions(catalogue, hand, found.support_of, robot.robot_pose, REACH_M)
    actions = OwnActions()
    made = SkillPerformer(
        driving,
        manipulation,
        actions,  # type: ignore[arg-type]
        found,
        hand,
        rules,
        catalogue,
        lambda: 1,
        repositions=repositions,
    )
    return made, hand


def test_base_goes_elsewhere_when_the_arm_finds_no_way() -> None:
    robot = SmallRobot(arm_m=0.8)
    skills, hand = performer(robot, repositions=1)
    assert skills.execute(SkillCall("PickupObject", ("Apple",)), run()).success
    assert hand.held_class == "Apple"
    (drive,) = robot.drives
    assert np.linalg.norm(drive.position[:2] - [1.75, 0.2]) < 0.8


def test_base_stays_where_it_is_when_it_may_not_go() -> None:
    robot = SmallRobot(arm_m=0.8)
    skills, _ = performer(robot, repositions=0)
    result = skills.execute(SkillCall("PickupObject", ("Apple",)), run())
    assert (result.success, result.reason) == (False, FailureReason.UNREACHABLE)
    assert robot.drives == []


def test_arm_that_never_finds_a_way_ends_after_as_many_places() -> None:
    robot = SmallRobot(arm_m=0.0)
    skills, _ = performer(robot, repositions=2)
    result = skills.execute(SkillCall("PickupObject", ("Apple",)), run())
    assert result.reason is FailureReason.UNREACHABLE
    assert len(robot.drives) == 2
    assert np.linalg.norm(robot.drives[0].position - robot.drives[1].position) >= 0.15


@pytest.mark.parametrize(("misses", "repositions", "success"), [(1, 1, True), (1, 0, False), (2, 1, False)])
def test_grasp_that_closed_on_nothing_is_tried_again_from_there(misses: int, repositions: int, success: bool) -> None:
    robot = SmallRobot(arm_m=3.0, misses=misses)
    skills, hand = performer(robot, repositions)
    assert skills.execute(SkillCall("PickupObject", ("Apple",)), run()).success is success
    assert (hand.held_class == "Apple") is success
    assert robot.drives == []


@pytest.mark.parametrize("sticky", [False, True])
def test_thing_that_stays_in_the_hand_is_not_reported_as_put_down(sticky: bool) -> None:
    robot = SmallRobot(arm_m=3.0, sticky=sticky)
    skills, hand = performer(robot, repositions=0)
    assert skills.execute(SkillCall("PickupObject", ("Apple",)), run()).success
    result = skills.execute(SkillCall("PutObject", ("Apple", "DiningTable")), run())
    assert result.success is not sticky
    assert (hand.held_class == "Apple") is sticky
    assert result.changes[-1].held is sticky


class Merging(ListMemory):
    """Memory that has merged an object into another since it was asked last."""

    def merge(self, objects: list[SceneObject]) -> None:
        ListMemory.__init__(self, objects)


def test_id_that_memory_merged_away_means_what_is_there_now() -> None:
    lamp = thing("DeskLamp", 2.2, -0.4, 0.95, (0.15, 0.15, 0.3))
    memory = Merging([lamp.changed(id="first")])
    found = TargetLookup(memory, Hand(), Pose)  # type: ignore[arg-type]
    assert found.resolve("first").object_id == "first"
    far = thing("DeskLamp", -2.0, 1.0, 0.95, (0.15, 0.15, 0.3)).changed(id="far")
    memory.merge([lamp.changed(id="second"), far])
    assert found.resolve("first").object_id == "second"
    memory.merge([far])
    with pytest.raises(SkillFailure, match="no object or class"):
        found.resolve("first")


def test_counter_that_was_merged_with_the_next_one_is_still_meant() -> None:
    counter = thing("CounterTop", 1.3, 0.3, 0.425, (0.9, 0.6, 0.85))
    memory = Merging([counter.changed(id="left")])
    found = TargetLookup(memory, Hand(), Pose)  # type: ignore[arg-type]
    found.resolve("left")
    whole = thing("CounterTop", 2.4, 0.3, 0.425, (3.1, 0.6, 0.85))
    memory.merge([whole.changed(id="whole")])
    assert found.resolve("left").object_id == "whole"


def test_thing_that_a_search_found_is_still_meant_after_memory_merged_it() -> None:
    lamp = thing("DeskLamp", 2.2, -0.4, 0.95, (0.15, 0.15, 0.3))
    memory = Merging([lamp.changed(id="first")])
    found = TargetLookup(memory, Hand(), Pose)  # type: ignore[arg-type]
    seen = found.seen_since("DeskLamp", 0)
    assert seen is not None
    assert seen.object_id == "first"
    memory.merge([lamp.changed(id="second")])
    assert found.resolve("first").object_id == "second"


def test_thing_that_looked_too_wide_from_afar_is_looked_at_again() -> None:
    hand = Hand()
    hand.release()
    wide = thing("Bread", 0.6, 0.0, 0.84, (0.12, 0.12, 0.08))
    memory = Merging([wide])
    found = TargetLookup(memory, hand, Pose)  # type: ignore[arg-type]

    def see_it_near(_: float) -> None:
        memory.merge([wide.changed(box=OrientedBox(wide.box.center, np.array([0.07, 0.12, 0.08])), last_seen_ns=2)])

    robot = SmallRobot(REACH_M)
    look = SecondLook(found, lambda: 1, 0.5, see_it_near)
    made = Manipulation(
        robot,
        robot,
        Boxes(),
        hand,
        found,
        load_catalogue(),
        robot.robot_pose,
        lambda: 1,
        ArmParameters(),
        REACH_M,
        0.085,
        look,
    )
    made.pick(found.resolve("Bread"), run())
    assert hand.held_class == "Bread"


@pytest.mark.parametrize(("object_class", "is_used"), [("Drawer", True), ("DeskLamp", True), ("CellPhone", False)])
def test_room_before_a_front_is_kept_where_nothing_is_picked_up(object_class: str, is_used: bool) -> None:
    box = OrientedBox(np.zeros(3), np.full(3, 0.1))
    assert used_from_front(load_catalogue())(Target("id", object_class, box)) is is_used
