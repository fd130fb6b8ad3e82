"""Plug-ins do skills and tell grasps, shipped ones and other packages'; planners are told what is available."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robot_memory.msg import AvailableSkills
from ros_peer import RosPeer, wait_until
from running_bridge import Caller, running_bridge
from skill_robot import SimulatedRobot, thing

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.states import ObjectState
from memory_node.nodes.qos import LATCHED
from memory_node.nodes.skill_bridge.plugins import GRASPS_GROUP, SKILLS_GROUP, load_plugin

PARAMETERS = {
    "expert.base.candidates": "2",
    "expert.stop_s": "2.0",
    "arm.carry": "shoulder=0.5",
    "arm.grasps": "tilted_grasps",
    "plugins": "horn doors switches pouring wiping",
}
# Another package: a module, and the metadata that says what it offers.
PACKAGE = """
from memory_node.domain.skill import FailureReason
from memory_node.domain.skill import SkillFailure
from memory_node.nodes.skill_bridge.ways.box_grasps import BoxGrasps

class Horn:
    skills = frozenset({"BreakObject"})
    def __init__(self, parts):
        self.calls = 0
    def perform(self, call, run):
        self.calls += 1
        if self.calls == 2:
            raise ZeroDivisionError("a defect of the plug-in")
        raise SkillFailure(FailureReason.EXECUTION, f"{call.skill.name} hurts")

class TiltedGrasps(BoxGrasps):
    def grasps(self, target, robot, others):
        return [grasp for grasp in super().grasps(target, robot, others) if not grasp.from_above][-1:]
"""
ENTRY_POINTS = """
[robot_memory.skills]
horn = horn_of_a_robot:Horn
broken = horn_of_a_robot:Nothing
doors_too = horn_of_a_robot:Horn
[robot_memory.grasps]
tilted_grasps = horn_of_a_robot:TiltedGrasps
"""


@pytest.fixture(scope="module", autouse=True)
def other_package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "horn_of_a_robot.py").write_text(PACKAGE)
    metadata = folder / "horn_of_a_robot-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: horn_of_a_robot\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def bridge(other_package: None) -> Iterator[tuple[RosPeer, SimulatedRobot, Any]]:
    with running_bridge(PARAMETERS) as running:
        yield running


def tool_positions(robot: SimulatedRobot) -> np.ndarray:
    """Where the tool was sent, (n, 3) in the base's frame."""
    goals = [goal.request.goal_constraints[0].position_constraints for goal in robot.arm_goals]
    points = [found[0].constraint_region.primitive_poses[0].position for found in goals if found]
    return np.array([(point.x, point.y, point.z) for point in points])


def tool_tilts_rad(robot: SimulatedRobot) -> list[float]:
    """Angles between the tool's orientation in each pose and in the first."""
    goals = [goal.request.goal_constraints[0].orientation_constraints for goal in robot.arm_goals]
    turns = [found[0].orientation for found in goals if found]
    quaternions = np.array([(turn.x, turn.y, turn.z, turn.w) for turn in turns])
    return [float(2.0 * np.arccos(min(1.0, abs(quaternions[0] @ other)))) for other in quaternions]


def gap_to_front_m(robot: SimulatedRobot, name: str) -> np.ndarray:
    """How far the tool's poses were outside the box of a thing, horizontally, as the robot stands."""
    box = next(found.box for found in robot.objects if found.class_name == name)
    points = robot.pose.apply(tool_positions(robot))
    offset = np.abs(points[:, :2] - box.center[:2]) - 0.5 * box.size[:2]
    return np.linalg.norm(np.maximum(offset, 0.0), axis=1)


def test_drawer_is_pulled_open_straight(robot: SimulatedRobot, call: Caller) -> None:
    robot.objects = [thing("Drawer", -2.0, 1.8, 0.7, (0.6, 0.6, 0.2), states=(ObjectState.CLOSED,))]
    assert call("GoToObject", "Drawer").success
    opened = call("OpenObject", "Drawer")
    assert opened.success, opened.message
    # The fingers go in over the handle, centimetre by centimetre; nothing stops them here.
    gaps_m = gap_to_front_m(robot, "Drawer")
    assert gaps_m[:5] == pytest.approx([0.12, *[0.0] * 4], abs=0.02)
    assert gaps_m[-2:] == pytest.approx([0.22, 0.34], abs=0.02)
    pulls_m = np.diff(gaps_m[4:-1])
    assert ((pulls_m > 0.0) & (pulls_m < 0.06)).all(), "pulled in steps that any planner takes straight"
    assert robot.grips == [pytest.approx(0.04), 0.0, 0.0, pytest.approx(0.04)]


def test_handle_that_slips_while_it_is_pulled_is_told(robot: SimulatedRobot, call: Caller) -> None:
    robot.objects = [thing("Drawer", -2.0, 1.8, 0.7, (0.6, 0.6, 0.2), states=(ObjectState.CLOSED,))]
    assert call("GoToObject", "Drawer").success
    robot.slips_after = 2  # motions of the gripper: it opens, and closes on the handle
    result = call("OpenObject", "Drawer")
    assert (result.success, result.reason) == (False, "execution")
    assert not result.changes


def test_door_is_pulled_open_about_its_hinge_and_pushed_shut(robot: SimulatedRobot, call: Caller) -> None:
    assert call("GoToObject", "Fridge").success
    opened = call("OpenObject", "Fridge")
    assert opened.success, opened.message
    assert [(change.object_id, change.added) for change in opened.changes] == [("id-Fridge", ["opened"])]
    assert gap_to_front_m(robot, "Fridge")[:5] == pytest.approx([0.12, *[0.0] * 4], abs=0.02)
    handle = robot.pose.apply(tool_positions(robot))[4:-1]
    box = robot.objects[3].box
    edges = np.abs(np.linalg.norm(handle[:, None, :2] - box.footprint(), axis=-1) - 0.3)
    assert edges.max(axis=0).min() < 0.02, "no edge of the box is the axis of the handle's way"
    assert np.linalg.norm(handle[-1] - handle[0]) > 0.2
    robot.arm_goals.clear()
    robot.objects = [thing("Fridge", -2.0, 1.8, 0.9, (0.6, 0.6, 1.8), states=(ObjectState.OPENED,))]
    closed = call("CloseObject", "Fridge")
    assert closed.success, closed.message
    assert [(change.object_id, change.added) for change in closed.changes] == [("id-Fridge", ["closed"])]
    gaps_m = gap_to_front_m(robot, "Fridge")
    assert gaps_m[0] > 0.2
    assert gaps_m[-2] == pytest.approx(0.0, abs=0.02), "pushed back to where its front was"
    pushed = robot.pose.apply(tool_positions(robot))[:-1]
    edges = np.abs(np.linalg.norm(pushed[:, None, :2] - box.footprint(), axis=-1) - 0.3)
    assert edges.max(axis=0).min() < 0.02


def test_switch_that_stops_the_arm_is_pressed_no_further(robot: SimulatedRobot, call: Caller) -> None:
    assert call("GoToObject", "DeskLamp").success
    robot.arm_codes = [1, 1, 1, -4, 1, 1]  # MoveIt: CONTROL_FAILED
    result = call("SwitchOn", "DeskLamp")
    assert result.success, result.message
    assert gap_to_front_m(robot, "DeskLamp") == pytest.approx([0.12, 0.02, 0.01, 0.0, 0.12], abs=0.02)


def test_handle_that_is_not_there_is_told(robot: SimulatedRobot, call: Caller) -> None:
    assert call("GoToObject", "Microwave").success
    robot.grasped_position = 0.0
    result = call("OpenObject", "Microwave")
    assert (result.success, result.reason) == (False, "execution")
    assert "no handle" in result.message
    assert not result.changes


def test_switch_is_pressed(robot: SimulatedRobot, call: Caller) -> None:
    assert call("GoToObject", "DeskLamp").success
    result = call("SwitchOn", "DeskLamp")
    assert result.success, result.message
    assert [(change.object_id, change.added) for change in result.changes] == [("id-DeskLamp", ["on"])]
    assert gap_to_front_m(robot, "DeskLamp") == pytest.approx([0.12, 0.02, *[0.0] * 6, 0.12], abs=0.02)


def picked(call: Caller, name: str) -> None:
    assert call("GoToObject", name).success
    result = call("PickupObject", name)
    assert result.success, result.message


def test_vessel_is_tilted_and_comes_back_upright(robot: SimulatedRobot, call: Caller) -> None:
    picked(call, "Mug")
    robot.arm_goals.clear()
    result = call("EmptyObject", "Mug")
    assert result.success, result.message
    assert result.held_object == "Mug"
    assert [(change.object_class, change.added) for change in result.changes] == [("Mug", ["used_up"])]
    assert tool_tilts_rad(robot) == pytest.approx([0.0, 0.7, 1.4, 2.1, 0.0], abs=0.01)
    assert np.ptp(tool_positions(robot), axis=0) == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_held_thing_is_rubbed_on_a_fixture(robot: SimulatedRobot, call: Caller) -> None:
    picked(call, "Apple")
    assert call("GoToObject", "SinkBasin").success
    robot.arm_goals.clear()
    result = call("CleanObject", "Apple", "SinkBasin")
    assert result.success, result.message
    assert [(change.object_class, change.added) for change in result.changes] == [("Apple", ["cleaned"])]
    strokes = tool_positions(robot)[1:-1]
    assert len(strokes) == 8
    assert np.linalg.norm(np.diff(strokes, axis=0), axis=1) == pytest.approx([0.12] * 7, abs=1e-6)


def test_other_packages_failure_is_handed_on_and_its_defect_ends_the_skill_alone(
    robot: SimulatedRobot, call: Caller
) -> None:
    assert call("GoToObject", "Mug").success
    hurt = call("BreakObject", "Mug")
    assert (hurt.reason, hurt.message) == ("execution", "BreakObject hurts")
    defect = call("BreakObject", "Mug")
    assert defect.reason == "execution"
    assert "ZeroDivisionError: a defect of the plug-in" in defect.message
    assert call("GoToObject", "Apple").success


def test_grasps_come_from_the_named_source(robot: SimulatedRobot, call: Caller) -> None:
    picked(call, "Apple")
    before, grasp = tool_positions(robot)[:2]
    # The named source takes things from the front alone: the approach is level.
    assert before[2] == pytest.approx(grasp[2])


def test_planners_are_told_what_is_available(bridge: tuple[RosPeer, SimulatedRobot, Any]) -> None:
    heard: list[Any] = []
    bridge[0].node.create_subscription(AvailableSkills, "execute_skill/available", heard.append, LATCHED)
    wait_until(lambda: heard)
    own = {"GoToObject", "Explore", "PickupObject", "PutObject"}
    plugged = {"OpenObject", "CloseObject", "ToggleOn", "ToggleOff", "SwitchOn", "SwitchOff", "EmptyObject"}
    assert set(heard[-1].skills) == own | plugged | {"BreakObject", "CleanObject", "HeatObject", "CoolObject"}


@pytest.mark.parametrize(
    ("group", "name", "said"),
    [
        (SKILLS_GROUP, "wings", "expected one of broken, doors, doors_too, horn, pouring, switches, wiping"),
        (SKILLS_GROUP, "broken", "cannot be loaded: .*Nothing"),
        (GRASPS_GROUP, "doors", "expected one of boxes, tilted_grasps"),
    ],
)
def test_plug_in_that_cannot_be_had_is_refused_by_name(group: str, name: str, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        load_plugin(group, name)


def test_name_that_two_packages_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "more_doors-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: more_doors\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robot_memory.skills]\ndoors = horn_of_a_robot:Horn\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InvalidValueError, match="'doors': 2 packages offer one"):
        load_plugin(SKILLS_GROUP, "doors")
