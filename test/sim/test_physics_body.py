"""The simulated body: what is laid down stays, what is gripped is held by friction, and what is in the way stops it."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose

if find_spec("mujoco") is None or find_spec("gymnasium_robotics") is None:
    pytest.skip("the extra `physics` is not installed", allow_module_level=True)

from memory_node.domain.states import ObjectState
from memory_node.sim.noise import BodyNoise, LocalizationNoise
from memory_node.sim.physics.arm_planner import ArmKinematics
from memory_node.sim.physics.collisions import PADDING_M, PlanningScene
from memory_node.sim.physics.furniture import read_home
from memory_node.sim.physics.home import plan_home
from memory_node.sim.physics.model import ARM_JOINTS
from memory_node.sim.physics.motions import DriveMotion, End
from memory_node.sim.physics.rgbd_camera import FILM_HEIGHT, FILM_WIDTH, Film
from memory_node.sim.physics.robot import TICK_S, BodyRobot, Localization, find_way
from memory_node.sim.physics.simulation import CARRY

DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
FREE_GAP_M, FORCE_N = 0.1, 20.0


def tool_pointing_down(x: float, y: float, z: float, yaw_rad: float = 0.0) -> Pose:
    matrix = np.eye(4)
    matrix[:3, :3] = Pose.planar(0.0, 0.0, yaw_rad).matrix[:3, :3] @ DOWN
    matrix[:3, 3] = x, y, z
    return Pose.from_matrix(matrix)


@pytest.fixture
def robot() -> BodyRobot:
    return BodyRobot(plan_home(0, ("Apple", "Mug")), BodyNoise.none(), seed=0)


def bring_before(robot: BodyRobot, thing: str) -> Pose:
    """Lay a thing on the worktop before the robot; return base_T_tool of a grasp from above."""
    simulation = robot.simulation
    for joint, value in zip(("base_x", "base_y", "base_yaw"), (1.3, 1.05, -0.5 * np.pi)):
        simulation._place(joint, value)
    simulation.place_item(thing, Pose.planar(1.3, 0.42, 0.0, 0.851))
    robot.tick()
    x, y, z = simulation.box(thing).center.tolist()
    return simulation.base_pose().inverse() @ tool_pointing_down(x, y, z, yaw_rad=-0.5 * np.pi)


def lifted(pose: Pose, rise_m: float) -> Pose:
    return Pose(pose.position + np.array([0.0, 0.0, rise_m]), pose.quaternion)


def end_of(robot: BodyRobot, motion: object) -> End:
    assert motion is not None
    return robot.finish(motion).end  # type: ignore[arg-type]


def take(robot: BodyRobot, thing: str) -> Pose:
    """Grasp a thing from above and lift it; return base_T_tool above the place."""
    grasp = bring_before(robot, thing)
    assert end_of(robot, robot.move_gripper(FREE_GAP_M, FORCE_N)) is End.DONE
    assert end_of(robot, robot.move_tool(lifted(grasp, 0.12), 1.0)) is End.DONE
    assert end_of(robot, robot.move_tool(grasp, 1.0)) is End.DONE
    assert end_of(robot, robot.move_gripper(0.0, FORCE_N)) is End.BLOCKED
    assert end_of(robot, robot.move_tool(lifted(grasp, 0.12), 1.0)) is End.DONE
    return lifted(grasp, 0.12)


def test_thing_is_held_by_friction_and_falls_when_the_grip_slips(robot: BodyRobot) -> None:
    take(robot, "mug")
    assert robot.simulation.in_hand() == "mug"
    height_m = robot.simulation.box("mug").center[2]
    assert height_m > 0.851 + 0.1
    robot.simulation.limit_force("r_gripper_finger_joint", 0.1)
    robot.simulation.limit_force("l_gripper_finger_joint", 0.1)
    for _ in range(100):
        robot.tick()
    assert robot.simulation.in_hand() == ""
    assert robot.simulation.box("mug").center[2] < height_m - 0.08


def test_arm_is_stopped_by_what_its_plan_did_not_know(robot: BodyRobot) -> None:
    grasp = bring_before(robot, "mug")
    assert end_of(robot, robot.move_tool(lifted(grasp, 0.25), 1.0)) is End.DONE
    # Someone holds the tray that the hand is to go through: a drawer's front, pulled out after the plan was made.
    motion = robot.move_tool(lifted(grasp, 0.12), 0.3)
    motion._knots[-1][0] -= 0.25  # the torso is to go on through the worktop
    motion._whole_s = 1.0
    assert robot.finish(motion).end is End.BLOCKED


def test_arm_keeps_a_distance_where_it_can(robot: BodyRobot) -> None:
    scene = PlanningScene(robot.simulation)
    bring_before(robot, "mug")
    scene.refresh()
    before = lifted(bring_before(robot, "mug"), 0.12)
    free = ArmKinematics().solutions(before, np.array(CARRY), np.random.default_rng(0))
    heights_m = np.arange(0.0, 0.2, 0.001)
    touching = close = 0
    for joints in free:
        for down_m in heights_m:
            lowered = joints - np.array([down_m, *[0.0] * 7])
            is_free, is_padded = scene.is_free(lowered), scene.is_free(lowered, padding_m=PADDING_M)
            assert is_free or not is_padded
            touching += not is_free
            close += is_free and not is_padded
    assert touching
    assert close >= 8, "a padded arm stops a centimetre earlier"


def test_no_way_leads_into_the_worktop(robot: BodyRobot) -> None:
    grasp = bring_before(robot, "mug")
    assert robot.move_tool(lifted(grasp, -0.2), 1.0) is None


def test_no_finger_goes_down_a_wall_beside_what_the_hand_holds(robot: BodyRobot) -> None:
    simulation = robot.simulation
    take(robot, "apple")
    bin_box = simulation.box("bin")
    x, y = bin_box.center[:2].tolist()
    for joint, value in zip(("base_x", "base_y", "base_yaw"), (x, y + 0.75, -0.5 * np.pi)):
        simulation._place(joint, value)
    tool_T_apple = simulation.site_pose("tool_link").inverse() @ simulation.body_pose("apple")
    simulation._wake()  # with the base where it is now
    simulation.place_item("apple", simulation.site_pose("tool_link") @ tool_T_apple)
    map_T_base = Pose.planar(x, y + 0.75, -0.5 * np.pi)

    def way_into(beside_m: float) -> bool:
        scene = PlanningScene(simulation)
        scene.refresh()
        tool = map_T_base.inverse() @ tool_pointing_down(x + beside_m, y, bin_box.top_m - 0.05, -0.5 * np.pi)
        postures = ArmKinematics().solutions(tool, np.array(CARRY), np.random.default_rng(0))
        assert postures
        return any(scene.is_free(joints, True) for joints in postures)

    assert way_into(0.0)
    assert not way_into(0.5 * float(bin_box.size[0]) - 0.06)


def test_everything_stays_where_it_is_laid() -> None:
    plan = plan_home(3)
    robot = BodyRobot(plan, BodyNoise.none())
    for item in plan.items:
        if not item.fixed:
            robot.simulation.place_item(item.id, robot.simulation.body_pose(item.id))  # wakes it
    for _ in range(50):
        robot.tick()
    moved = {
        item.id: float(np.linalg.norm(robot.simulation.body_pose(item.id).position - np.array(item.at)))
        for item in plan.items
        if not item.fixed
    }
    assert len(moved) > 20
    assert max(moved.values()) < 0.01, moved


def test_base_arrives_where_the_map_says_and_says_when_it_is_held_up(robot: BodyRobot) -> None:
    goal = Pose.planar(2.05, 1.15, -0.5 * np.pi)
    assert end_of(robot, robot.drive(goal)) is End.DONE
    here = robot.simulation.base_pose()
    assert np.linalg.norm(here.position - goal.position) < 0.03
    assert abs(here.yaw_rad - goal.yaw_rad) < 0.03
    through_the_counter = np.array([[2.05, 1.15], [2.05, 0.2]])
    motion = DriveMotion(robot.simulation, through_the_counter, Pose.planar(2.05, 0.2, 0.0), robot.simulation.base_pose)
    while motion.ended is None:
        motion.advance(TICK_S)
        robot.tick()
    assert motion.ended.end is End.BLOCKED
    assert robot.simulation.base_pose().position[1] > 0.75


def test_way_through_the_home_keeps_off_furniture_and_none_leads_into_it(robot: BodyRobot) -> None:
    grid = robot.floor()
    way = find_way(grid, np.array([0.6, 2.7]), np.array([6.2, 1.2]), 0.3)
    assert way[0].tolist() == [0.6, 2.7]
    assert way[-1].tolist() == [6.2, 1.2]
    dense = np.vstack([a + np.linspace(0, 1, 50)[:, None] * (b - a) for a, b in pairwise(way)])
    rows, columns = grid.to_cell(dense)
    assert (grid.cells[rows, columns] == 0).all()
    assert find_way(grid, np.array([0.6, 2.7]), np.array([1.6, 2.7]), 0.3) is None
    assert find_way(grid, np.array([0.6, 2.7]), np.array([6.2, 1.2]), 9.0) is None, "too wide a robot fits nowhere"


def test_open_drawer_is_an_obstacle_and_seen_as_open(robot: BodyRobot) -> None:
    simulation = robot.simulation
    before = robot.floor().cells
    assert robot.switches.states("drawer_left") == {ObjectState.CLOSED}
    simulation.move_mechanism("drawer_left", 0.3)
    assert robot.switches.states("drawer_left") == {ObjectState.OPENED}
    assert (robot.floor().cells > 0).sum() > (before > 0).sum()
    assert simulation.box("drawer_left").center[1] > 0.62


def test_each_press_switches_once(robot: BodyRobot) -> None:
    seen = []
    for position in (0.0, 0.01, 0.011, 0.002, 0.0, 0.01):
        robot.simulation.move_mechanism("faucet", position)
        robot.switches.follow()
        seen.append(robot.switches.on["faucet"])
    assert seen == [False, True, True, True, True, False]


@pytest.mark.parametrize("yaw_rad", [0.0, np.pi / 4, -np.pi / 4])
def test_inverse_kinematics_gives_the_pose_back(yaw_rad: float) -> None:
    kinematics = ArmKinematics()
    wanted = tool_pointing_down(0.6, 0.1, 0.85, yaw_rad)
    found = kinematics.solutions(wanted, np.array(CARRY), np.random.default_rng(0))
    assert found
    for joints in found:
        pose = kinematics.tool(joints)
        assert np.linalg.norm(pose.position - wanted.position) < 0.001
        assert (pose.rotation.inv() * wanted.rotation).magnitude() < 0.005
        limited = kinematics.limited
        assert (joints >= kinematics.low)[limited].all()
        assert (joints <= kinematics.high)[limited].all()
    assert kinematics.solve(tool_pointing_down(1.6, 0.0, 0.85), np.array(CARRY)) is None
    assert len(ARM_JOINTS) == len(CARRY)


@pytest.mark.parametrize("yaw_rad", [0.0, 0.3, -0.3])
def test_hand_goes_straight_on_from_every_posture(yaw_rad: float) -> None:
    kinematics = ArmKinematics()

    def level(x: float) -> Pose:
        return Pose.planar(x, 0.1, yaw_rad, 0.75)

    for joints in kinematics.solutions(level(0.7), np.array(CARRY), np.random.default_rng(0)):
        here = joints
        for x in (0.71, 0.72, 0.73):
            found = kinematics.solve(level(x), here)
            assert found is not None
            found = kinematics.nearest_turn(found, here)
            assert np.abs(found - here).max() < 0.3
            here = found


def test_base_that_is_held_up_takes_it_back_and_tries_again(robot: BodyRobot) -> None:
    simulation = robot.simulation
    start = simulation.base_pose().position[:2]
    into_the_counter = np.array([start, [3.3, 0.2]])
    replanned = []

    def replan() -> np.ndarray:
        replanned.append(1)
        return np.array([simulation.base_pose().position[:2], [3.3, 2.0]])

    motion = DriveMotion(simulation, into_the_counter, Pose.planar(3.3, 2.0, 0.0), simulation.base_pose, replan)
    for _ in range(3000):
        if motion.ended is None:
            motion.advance(TICK_S)
            robot.tick()
    assert motion.ended.end is End.DONE
    assert replanned


def test_costmap_keeps_the_folded_arm_off_what_is_high(robot: BodyRobot) -> None:
    floor, costs = robot.floor(), robot.costmap()
    before_the_fridge, before_the_table = np.array([[0.42, 0.8]]), np.array([[2.1, 2.7]])
    for grid, occupied in ((floor, False), (costs, True)):
        row, column = grid.to_cell(before_the_fridge)
        assert (grid.cells[row[0], column[0]] > 0) == occupied
    row, column = costs.to_cell(before_the_table)
    assert costs.cells[row[0], column[0]] == 0


def test_odometry_drifts_and_the_map_corrects_it() -> None:
    noise = LocalizationNoise(drift_share=0.1, turn_drift_share=0.0, correct_every_m=1.0)
    localization = Localization(Pose(), noise, np.random.default_rng(0))
    odometry, corrected = [], []
    for step in range(1, 400):
        true = Pose.planar(0.1 * step, 0.0, 0.0)
        localization.follow(true)
        odometry.append(np.linalg.norm(localization.odom_T_base.position - true.position))
        corrected.append(np.linalg.norm(localization.map_T_base.position - true.position))
    assert odometry[-1] > 0.1
    assert np.median(corrected) < 0.05
    assert np.median(corrected) < 0.3 * odometry[-1]


def test_camera_sees_things_where_they_are(robot: BodyRobot) -> None:
    from memory_node.domain.errors import ResourceMissingError

    bring_before(robot, "mug")
    try:
        picture = robot.look()
    except ResourceMissingError as error:
        pytest.skip(str(error))
    seen = {max(one.class_scores, key=one.class_scores.__getitem__): one for one in picture.detections}
    mask = picture.instances == seen["Mug"].instance
    rows, columns = np.nonzero(mask)
    depth_m = picture.depth_m[mask]
    k = picture.intrinsics
    points = np.column_stack([(columns - k.cx) / k.fx * depth_m, (rows - k.cy) / k.fy * depth_m, depth_m])
    box = robot.simulation.box("mug")
    assert box.contains(picture.map_T_camera.apply(points), 0.005).mean() > 0.95
    robot.close()


def test_film_shows_the_robot_from_outside(robot: BodyRobot, tmp_path: Path) -> None:
    from memory_node.domain.errors import ResourceMissingError

    assert robot.onlooker() is None
    try:
        seen = robot.look()
    except ResourceMissingError as error:
        pytest.skip(str(error))
    assert seen is not None
    film = Film(tmp_path / "films" / "robot.mp4")
    for number in range(4):
        assert film.is_due(0.5 * number)
        frame = robot.onlooker()
        assert frame.std() > 20.0
        film.add(frame, 0.5 * number)
    assert not film.is_due(1.7)
    film.close()
    read = cv2.VideoCapture(str(tmp_path / "films" / "robot.mp4"))
    assert int(read.get(cv2.CAP_PROP_FRAME_COUNT)) == 4
    _, first = read.read()
    assert first.shape == (FILM_HEIGHT, FILM_WIDTH, 3)
    # Taking the onlooker's picture leaves the camera's own as it was.
    again = robot.look()
    assert np.abs(again.color.astype(int) - seen.color).mean() < 1.0
    robot.close()


def test_home_that_cannot_be_is_refused_by_the_name_of_its_key() -> None:
    entries = read_home()
    broken = entries.furniture[1].model_copy(update={"detail_m": (1.0,)})
    with pytest.raises(InvalidValueError, match=r"counter_left.detail_m: expected 3 numbers, got 1"):
        plan_home(entries=entries.model_copy(update={"furniture": (broken,)}))
    crowded = entries.model_copy(update={"surfaces": entries.surfaces[-1:]})
    with pytest.raises(InvalidValueError, match="no room is left for"):
        plan_home(entries=crowded)
