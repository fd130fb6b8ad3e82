"""What the bridge refuses before it moves, and does when the arm finds no way or memory has merged an id away."""

from __future__ import annotations

import numpy as np
import pytest
from bridge_parts import REACH_M, ListMemory, OwnActions, SmallRobot, lookup, performer, run
from skill_robot import kitchen, thing

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.target import Hand, Target, TargetLookup
from memory_node.scene_graph.state import ROBOT_ID


def test_nearest_of_a_class_is_meant_and_what_is_gone_comes_last() -> None:
    mugs = [thing("Mug", x_m, 0.0, 1.0, (0.1, 0.1, 0.1)).changed(id=f"mug at {x_m}") for x_m in (3.0, 1.0)]
    assert lookup(mugs, Hand()).resolve("Mug").box.center[0] == 1.0
    gone = [mugs[0], mugs[1].changed(existence=0.3, last_missed_ns=2)]
    assert lookup(gone, Hand()).resolve("Mug").box.center[0] == 3.0


def test_thing_on_this_floor_is_meant_before_a_nearer_one_above() -> None:
    places = {"above": (0.5, 0.0, 3.9), "here": (6.0, 0.0, 0.8), "below": (0.5, 0.0, -2.2)}
    mugs = [thing("Mug", *at, (0.1, 0.1, 0.1)).changed(id=name) for name, at in places.items()]
    assert lookup(mugs, Hand()).resolve("Mug").object_id == "here"
    assert (
        lookup([mugs[0], mugs[1].changed(existence=0.3, last_missed_ns=2)], Hand()).resolve("Mug").object_id == "above"
    )


def test_base_does_not_set_out_for_another_floor() -> None:
    robot = SmallRobot(0.8)
    above = ListMemory([thing("Mug", 0.5, 0.0, 3.9, (0.1, 0.1, 0.1))])
    result = performer(robot, memory=above).execute(SkillCall("GoToObject", ("Mug",)), run())
    assert (result.reason, robot.drives) == (FailureReason.UNREACHABLE, [])
    assert "another floor" in result.message


@pytest.mark.parametrize("reference", ["Apple", "id-Apple", "Apple@1.75,0.2,0.84"])
def test_nothing_is_done_while_the_frame_is_not_verified(reference: str) -> None:
    with pytest.raises(SkillFailure) as failure:
        lookup(kitchen(), Hand(), frame_verified=False).resolve(reference)
    assert failure.value.reason is FailureReason.PRECONDITION


def test_composite_is_refused_at_once_when_a_step_has_no_action() -> None:
    hand = Hand()
    hand.take(Target.of_scene_object(kitchen()[1]))
    actions = OwnActions("GoToObject", "OpenObject", "CloseObject", "PickupObject", "PutObject")
    result = performer(hand=hand, actions=actions).execute(SkillCall("HeatObject", ("Apple",)), run())
    assert result.reason is FailureReason.INVALID_CALL
    assert "actions.ToggleOn" in result.message
    assert actions.calls == []


def test_forwarded_pick_fills_the_hand_and_forwarded_put_empties_it() -> None:
    hand = Hand()
    robot = performer(hand=hand, actions=OwnActions("PickupObject", "PutObject"))
    picked = robot.execute(SkillCall("PickupObject", ("Apple",)), run())
    assert (picked.success, hand.held_class) == (True, "Apple")
    put = robot.execute(SkillCall("PutObject", ("Apple", "DiningTable")), run())
    (change,) = put.changes
    assert (hand.held_class, change.held, change.support_id) == ("", False, "id-DiningTable")


def test_hand_holds_at_first_what_memory_says() -> None:
    hand = Hand()
    held = [o.changed(support_id=ROBOT_ID) if o.class_name == "Apple" else o for o in kitchen()]
    robot = performer(hand=hand, actions=OwnActions("PutObject"), memory=ListMemory(held))
    put = robot.execute(SkillCall("PutObject", ("Apple", "DiningTable")), run())
    assert (put.success, put.message, hand.held) == (True, "", None)


@pytest.mark.parametrize("text", ["elbow", "elbow=up", "=1.0"])
def test_carrying_pose_that_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match=r"arm\.carry: expected pairs like"):
        SkillsParameters.of({"arm.carry": text})


def test_closed_receptacle_is_refused_and_an_unknown_class_is_not() -> None:
    hand = Hand()
    hand.take(Target.of_scene_object(kitchen()[1]))
    unknown = thing("Gizmo", 1.0, 0.0, 1.0, (0.1, 0.1, 0.1))
    actions = OwnActions("PutObject", "OpenObject")
    robot = performer(hand=hand, actions=actions, memory=ListMemory([*kitchen(), unknown]))
    refused = robot.execute(SkillCall("PutObject", ("Apple", "Microwave")), run())
    assert (refused.reason, hand.held_class) == (FailureReason.CLOSED, "Apple")
    assert robot.execute(SkillCall("OpenObject", ("Gizmo",)), run()).success


def test_distance_is_to_the_turned_box() -> None:
    turned = Target("t", "Table", kitchen()[0].box.moved_by(Pose.planar(0.0, 0.0, np.pi / 4)))
    # centre at 2 m in the diagonal direction, half depth 0.4 m
    assert turned.box.distance_m(np.zeros(2)) == pytest.approx(1.6)


def test_base_goes_elsewhere_when_the_arm_finds_no_way() -> None:
    robot = SmallRobot(arm_m=0.8)
    skills = performer(robot, repositions=1, look_s=0.5)
    assert skills.execute(SkillCall("PickupObject", ("Apple",)), run()).success
    assert skills.hand.held_class == "Apple"
    (drive,) = robot.drives
    assert np.linalg.norm(drive.position[:2] - [1.75, 0.2]) < 0.8


def test_base_stays_where_it_is_when_it_may_not_go() -> None:
    robot = SmallRobot(arm_m=0.8)
    skills = performer(robot, repositions=0, look_s=0.5)
    result = skills.execute(SkillCall("PickupObject", ("Apple",)), run())
    assert (result.success, result.reason) == (False, FailureReason.UNREACHABLE)
    assert robot.drives == []


def test_arm_that_never_finds_a_way_ends_after_as_many_places() -> None:
    robot = SmallRobot(arm_m=0.0)
    skills = performer(robot, repositions=2, look_s=0.5)
    result = skills.execute(SkillCall("PickupObject", ("Apple",)), run())
    assert result.reason is FailureReason.UNREACHABLE
    assert len(robot.drives) == 2
    assert np.linalg.norm(robot.drives[0].position - robot.drives[1].position) >= 0.15


@pytest.mark.parametrize(("misses", "repositions", "success"), [(1, 1, True), (1, 0, False), (2, 1, False)])
def test_grasp_that_closed_on_nothing_is_tried_again_from_there(misses: int, repositions: int, success: bool) -> None:
    robot = SmallRobot(arm_m=3.0, misses=misses)
    skills = performer(robot, repositions=repositions, look_s=0.5)
    assert skills.execute(SkillCall("PickupObject", ("Apple",)), run()).success is success
    assert (skills.hand.held_class == "Apple") is success
    assert robot.drives == []


@pytest.mark.parametrize("sticky", [False, True])
def test_thing_that_stays_in_the_hand_is_not_reported_as_put_down(sticky: bool) -> None:
    robot = SmallRobot(arm_m=3.0, sticky=sticky)
    skills = performer(robot, repositions=0, look_s=0.5)
    assert skills.execute(SkillCall("PickupObject", ("Apple",)), run()).success
    result = skills.execute(SkillCall("PutObject", ("Apple", "DiningTable")), run())
    assert result.success is not sticky
    assert (skills.hand.held_class == "Apple") is sticky
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
    assert seen.object_id == "first"
    memory.merge([lamp.changed(id="second")])
    assert found.resolve("first").object_id == "second"


def test_thing_that_looked_too_wide_from_afar_is_looked_at_again() -> None:
    wide = thing("Bread", 0.6, 0.0, 0.84, (0.12, 0.12, 0.08))
    memory = Merging([wide])

    def see_it_near(_: float) -> None:
        memory.merge([wide.changed(box=OrientedBox(wide.box.center, np.array([0.07, 0.12, 0.08])), last_seen_ns=2)])

    skills = performer(SmallRobot(REACH_M), memory=memory, look_s=0.5, pause=see_it_near)
    assert skills.execute(SkillCall("PickupObject", ("Bread",)), run()).success
    assert skills.hand.held_class == "Bread"


@pytest.mark.parametrize(("object_class", "room_m"), [("Drawer", 0.5), ("DeskLamp", 0.5), ("CellPhone", 0.0)])
def test_room_before_a_front_is_kept_where_nothing_is_picked_up(object_class: str, room_m: float) -> None:
    stands = []
    for front_room_m in (0.0, 0.5):
        robot = SmallRobot(REACH_M)
        memory = ListMemory([thing(object_class, 1.75, 0.2, 0.84, (0.1, 0.1, 0.1))])
        skills = performer(robot, memory=memory, front_room_m=front_room_m)
        assert skills.execute(SkillCall("GoToObject", (object_class,)), run()).success
        stands.append(float(np.linalg.norm(robot.pose.position[:2] - [1.75, 0.2])))
    assert stands[1] - stands[0] == pytest.approx(room_m, abs=0.1)
