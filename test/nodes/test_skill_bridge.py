"""The skills node against simulated Nav2, MoveIt and gripper servers, over DDS."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from ros_peer import RosPeer, wait_until
from running_bridge import Caller, running_bridge
from skill_robot import SimulatedRobot, thing

from memory_node.nodes.service_clients import result_of

OWN = ("OpenObject", "CloseObject", "ToggleOn", "ToggleOff")
PARAMETERS = {
    "expert.base.silence_s": "0.6",
    "expert.base.candidates": "2",
    "expert.stop_s": "2.0",
    "expert.explore.look_s": "0.1",
    "expert.explore.directions": "1",
    "arm.carry": "shoulder=0.5",
    **{f"actions.{skill}": "own_skill" for skill in OWN},
}


@pytest.fixture(scope="module")
def bridge() -> Iterator[tuple[RosPeer, SimulatedRobot, Any]]:
    with running_bridge(PARAMETERS) as running:
        yield running


def test_go_to_drives_to_a_free_pose_that_faces_the_thing(robot: SimulatedRobot, call: Caller) -> None:
    result = call("GoToObject", "Apple")
    assert (result.success, result.reason, result.object_id) == (True, "none", "id-Apple")
    (goal,) = robot.drives
    way = np.array([1.75, 0.2]) - goal.position[:2]
    assert 0.2 < np.linalg.norm(way) < 1.0
    assert abs(goal.yaw_rad - np.arctan2(way[1], way[0])) < 1e-6
    assert result.distance == pytest.approx(np.linalg.norm(goal.position[:2]), rel=0.1)
    assert {"navigating"} == {one.phase for one in call.feedback}
    assert max(one.progress for one in call.feedback) > 0.9


def test_drive_ends_when_tf_knows_of_it(robot: SimulatedRobot, call: Caller) -> None:
    robot.tf_late_s = 0.3
    assert call("GoToObject", "Apple").success
    result = call("PickupObject", "Apple")
    assert result.success, result.message


@pytest.mark.parametrize("reference", ["id-Apple", "Apple@1.700,0.200,0.900"])
def test_ids_and_remembered_places_mean_the_same_thing(robot: SimulatedRobot, call: Caller, reference: str) -> None:
    assert call("GoToObject", reference).object_id == "id-Apple"


def test_pick_and_put_report_what_is_held_and_where_it_went(robot: SimulatedRobot, call: Caller) -> None:
    assert call("GoToObject", "Apple").success
    picked = call("PickupObject", "Apple")
    assert picked.success, picked.message
    assert picked.held_object == "Apple"
    assert [(change.object_id, change.held) for change in picked.changes] == [("id-Apple", 1)]
    assert robot.grips == [pytest.approx(0.04), 0.0, 0.0]  # once more when it is carried: is it still there?
    before, grasp, after = (goal.request.goal_constraints[0] for goal in robot.arm_goals[:3])
    heights = [
        goal.position_constraints[0].constraint_region.primitive_poses[0].position.z for goal in (before, grasp, after)
    ]
    assert heights == pytest.approx([0.96, 0.84, 0.96])
    assert grasp.orientation_constraints[0].link_name == "gripper_link"
    put = call("PutObject", "Apple", "DiningTable")
    assert put.success, put.message
    assert put.held_object == ""
    (change,) = put.changes
    assert (change.object_id, change.held, change.support, change.inside) == ("id-Apple", 2, "id-DiningTable", False)
    assert change.position.z == pytest.approx(0.85, abs=0.01)


def test_next_grasp_is_tried_when_the_arm_cannot_reach_the_first(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    robot.arm_codes = [-31]
    assert call("PickupObject", "Apple").success
    assert len(robot.arm_goals) == 5, "one in vain, then before, at, back and to carry"


def test_gripper_that_closes_on_nothing_holds_nothing(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    robot.grasped_position = 0.0
    result = call("PickupObject", "Apple")
    assert (result.success, result.reason, result.held_object) == (False, "execution", "")
    assert result.changes == []


def test_stalled_gripper_is_a_failed_execution(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    robot.gripper_stuck = True
    result = call("PickupObject", "Apple")
    assert (result.reason, robot.arm_goals) == ("execution", [])
    assert "stalled" in result.message


def test_thing_is_held_even_if_the_retreat_fails(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    robot.arm_codes = [1, 1, -4]
    result = call("PickupObject", "Apple")
    assert (result.success, result.reason, result.held_object) == (False, "execution", "Apple")
    assert [change.held for change in result.changes] == [1]


def test_cancel_while_driving_stops_the_base(robot: SimulatedRobot, call: Caller) -> None:
    robot.slow = True
    handle = call.send("GoToObject", "Apple")
    wait_until(lambda: any(one.distance > 0.0 for one in call.feedback))
    assert not call.send("GoToObject", "Mug").accepted, "one goal at a time"
    handle.cancel_goal_async()
    response = result_of(handle.get_result_async(), 10.0, "execute_skill")
    assert (response.status, response.result.reason) == (GoalStatus.STATUS_CANCELED, "canceled")
    assert robot.drive_canceled.is_set()


def test_cancel_while_the_arm_moves_stops_it_and_drops_nothing(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    call("PickupObject", "Apple")
    grips, robot.arm_waits = len(robot.grips), True
    moves = len(robot.arm_goals)
    handle = call.send("PutObject", "Apple", "DiningTable")
    wait_until(lambda: len(robot.arm_goals) > moves)
    handle.cancel_goal_async()
    result = result_of(handle.get_result_async(), 10.0, "execute_skill").result
    assert (result.reason, result.held_object) == ("canceled", "Apple")
    assert robot.grips[grips:] == [0.0]  # the look whether it is still held; it was not opened
    assert robot.arm_canceled.is_set()


def test_thing_that_slips_while_it_is_carried_is_told_and_not_believed_held(
    robot: SimulatedRobot, call: Caller
) -> None:
    robot.slips_after = 2  # opened, closed on it
    call("GoToObject", "Apple")
    picked = call("PickupObject", "Apple")
    assert (picked.success, picked.reason, picked.held_object) == (False, "execution", "")
    assert "slipped" in picked.message
    assert [(change.object_id, change.held) for change in picked.changes] == [("id-Apple", 1), ("id-Apple", 2)]


def test_thing_that_was_lost_on_the_way_is_not_put_down(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    assert call("PickupObject", "Apple").success
    robot.slips_after, moves = 0, len(robot.arm_goals)
    put = call("PutObject", "Apple", "DiningTable")
    assert (put.success, put.reason, put.held_object) == (False, "execution", "")
    assert len(robot.arm_goals) == moves


def test_second_stand_off_is_tried_when_nav2_aborts(robot: SimulatedRobot, call: Caller) -> None:
    robot.aborted_drives = 1
    assert call("GoToObject", "Apple").success
    assert len(robot.drives) == 2


def test_nav2_without_a_way_makes_the_thing_unreachable(robot: SimulatedRobot, call: Caller) -> None:
    robot.aborted_drives = 2
    result = call("GoToObject", "Apple")
    assert (result.reason, len(robot.drives)) == ("unreachable", 2)


def test_silent_nav2_is_stopped_and_times_out(robot: SimulatedRobot, call: Caller) -> None:
    robot.silent = True
    result = call("GoToObject", "Apple")
    assert result.reason == "timeout"
    assert "base.action" in result.message
    assert robot.drive_canceled.is_set()


@pytest.mark.parametrize(
    ("skill", "arguments", "reason"),
    [
        ("GoToObject", ("Unicorn",), "not_found"),
        ("GoToObject", ("Apple@9,9,9",), "not_found"),
        ("GoToObject", ("Apple@here",), "invalid_call"),
        ("GoToObject", ("Egg",), "closed"),
        ("PickupObject", ("Apple",), "too_far"),
        ("PickupObject", ("DiningTable",), "wrong_object"),
        ("PutObject", ("Apple", "DiningTable"), "hand_empty"),
        ("Fly", ("Apple",), "invalid_call"),
        ("PickupObject", (), "invalid_call"),
    ],
)
def test_declared_preconditions_decide_before_anything_moves(
    robot: SimulatedRobot, call: Caller, skill: str, arguments: tuple[str, ...], reason: str
) -> None:
    result = call(skill, *arguments)
    assert (result.success, result.reason) == (False, reason)
    assert (robot.drives, robot.arm_goals) == ([], [])


def test_thing_that_is_too_wide_is_told_with_its_width_and_the_opening(robot: SimulatedRobot, call: Caller) -> None:
    robot.objects = [
        thing("Bowl", 1.75, 0.2, 0.84, (0.21, 0.19, 0.08)) if o.class_name == "Apple" else o for o in robot.objects
    ]
    assert call("GoToObject", "Bowl").success
    result = call("PickupObject", "Bowl")
    assert result.reason == "wrong_object"
    assert "it is 0.190 m wide at least, the gripper opens 0.085 m" in result.message


def test_skill_without_an_action_names_the_parameter(robot: SimulatedRobot, call: Caller) -> None:
    result = call("SwitchOn", "DeskLamp")
    assert (result.reason, robot.own_calls) == ("invalid_call", [])
    assert "actions.SwitchOn" in result.message


def test_own_action_gets_a_place_and_the_declared_effects_are_reported(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Fridge")
    result = call("OpenObject", "Fridge")
    assert result.success, result.message
    assert robot.own_calls[0].arguments == ["Fridge@-2.000,1.800,0.900"]
    (change,) = result.changes
    assert (change.object_id, change.added, change.removed) == ("id-Fridge", ["opened"], ["closed"])


def test_reason_of_an_own_action_is_handed_back(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Fridge")
    robot.own_reason = "unreachable"
    result = call("OpenObject", "Fridge")
    assert (result.success, result.reason, result.message) == (False, "unreachable", "as it was told")
    assert result.changes == []


def test_composite_is_made_of_the_declared_steps(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    assert call("PickupObject", "Apple").success
    result = call("HeatObject", "Apple")
    assert result.success, result.message
    called = [one.skill for one in robot.own_calls]
    assert called == ["OpenObject", "CloseObject", "ToggleOn", "ToggleOff", "OpenObject", "CloseObject"]
    assert result.held_object == "Apple"
    last = result.changes[-1]
    assert (last.object_id, last.added, last.removed) == ("id-Apple", ["heated"], ["cold"])
    assert [change.support for change in result.changes if change.held == 2] == ["id-Microwave"]


@pytest.mark.parametrize(
    ("skill", "state", "gone", "fixture", "own"),
    [
        ("CleanObject", "cleaned", "dirty", "SinkBasin", ["ToggleOn", "ToggleOff"]),
        ("CoolObject", "cold", "heated", "Fridge", ["OpenObject", "CloseObject", "OpenObject", "CloseObject"]),
    ],
)
def test_held_thing_is_brought_to_the_fixture_and_held_again(
    robot: SimulatedRobot, call: Caller, skill: str, state: str, gone: str, fixture: str, own: list[str]
) -> None:
    call("GoToObject", "Apple")
    assert call("PickupObject", "Apple").success
    result = call(skill, "Apple")
    assert result.success, result.message
    assert ([one.skill for one in robot.own_calls], result.held_object) == (own, "Apple")
    assert (result.changes[-1].added, result.changes[-1].removed) == ([state], [gone])
    assert [change.support for change in result.changes if change.held == 2] == [f"id-{fixture}"]


def test_search_opens_a_container_and_closes_it_when_it_is_in_vain(robot: SimulatedRobot, call: Caller) -> None:
    result = call("Explore", "Mug", "Fridge@-2.0,1.8,0.9", "0.0,1.0")
    assert (result.reason, result.explored_areas) == ("not_found", 2)
    assert [one.skill for one in robot.own_calls] == ["OpenObject", "CloseObject"]
    robot.reset()
    robot.shown_at = {1: "Mug"}
    found = call("Explore", "Mug", "id-Fridge")
    assert (found.success, found.object_id) == (True, "id-Mug")
    assert [one.skill for one in robot.own_calls] == ["OpenObject"]


def test_arm_is_brought_to_its_carrying_pose_after_pick_and_put(robot: SimulatedRobot, call: Caller) -> None:
    call("GoToObject", "Apple")
    call("PickupObject", "Apple")
    call("PutObject", "Apple", "DiningTable")
    joints = [goal.request.goal_constraints[0].joint_constraints for goal in robot.arm_goals]
    assert [bool(found) for found in joints] == [False, False, False, True] * 2
    assert (joints[3][0].joint_name, joints[3][0].position) == ("shoulder", 0.5)


def test_explore_ends_where_memory_sees_the_class_anew(robot: SimulatedRobot, call: Caller) -> None:
    robot.shown_at = {2: "Mug"}
    result = call("Explore", "Mug", "0.0,1.0", "0.5,-1.5", "-1.0,-1.0")
    assert (result.success, result.object_id, result.explored_areas) == (True, "id-Mug", 2)
    assert [tuple(goal.position[:2]) for goal in robot.drives] == [(0.0, 1.0), (0.5, -1.5)]
    assert "looking" in {one.phase for one in call.feedback}


def test_search_goes_on_behind_what_is_passed_over(robot: SimulatedRobot, call: Caller) -> None:
    robot.shown_at = {1: "Mug"}
    result = call("Explore", "Mug", "0.0,1.0", "0.5,-1.5", "not:id-Mug")
    assert (result.reason, result.explored_areas) == ("not_found", 2)


def test_what_memory_saw_earlier_does_not_end_a_search(robot: SimulatedRobot, call: Caller) -> None:
    result = call("Explore", "Mug", "0.0,1.0")
    assert (result.reason, result.explored_areas) == ("not_found", 1)
