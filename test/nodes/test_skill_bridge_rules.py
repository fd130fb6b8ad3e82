"""What the bridge refuses before it moves: unverified frames, composites that it cannot finish."""

import numpy as np
import pytest
from bridge_parts import ListMemory, OwnActions, SmallRobot, lookup, performer, run
from skill_robot import kitchen, thing

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.target import Hand, Target
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
