"""Arms and grippers beside MoveGroup and GripperCommand: trajectory grippers, users' actions, Cartesian paths."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from control_msgs.action import FollowJointTrajectory
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.srv import GetCartesianPath
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from ros_peer import RosPeer, wait_until
from rosidl_runtime_py.utilities import get_action
from running_bridge import Caller, running_bridge
from sensor_msgs.msg import JointState
from skill_robot import SimulatedRobot, thing

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.forwarding import ForwardedSkills

PICK = """
string object_name
geometry_msgs/PoseStamped grasp_pose
geometry_msgs/Vector3 size
float64 max_effort
---
int32 error_code
string error_string
---
float32 percent
"""
MAP = """
PickupObject:
  action: /own_pick
  type: my_robot_msgs/action/Pick
  goal:
    object_name: "the {object.class}"
    grasp_pose: "{object.pose}"
    size: "{object.size}"
    max_effort: 12
  done: {error_code: 0}
  message: error_string
  progress: percent
"""
EMBEDDED = pytest.mark.skipif("ros_embedded" not in str(rclpy.__file__), reason="makes a type for ros_embedded")


@contextmanager
def bridge(**parameters: str) -> Iterator[tuple[RosPeer, SimulatedRobot, Caller]]:
    given = {"expert.base.candidates": "1", "arm.carry": "shoulder=0.5", **parameters}
    with running_bridge(given) as (peer, robot, _):
        caller = Caller(peer)
        yield peer, robot, caller
        caller.close()


def server(peer: RosPeer, kind: Any, name: str, execute: Any) -> Any:
    return ActionServer(peer.node, kind, name, execute, callback_group=ReentrantCallbackGroup())


class TrajectoryFingers:
    """A FollowJointTrajectory controller of two fingers, which stop at what is between them."""

    def __init__(self, peer: RosPeer) -> None:
        self.between = 0.02
        self.goals: list[Any] = []
        self._at = 0.04
        self._kind, self._state = FollowJointTrajectory, JointState
        self._states = peer.node.create_publisher(JointState, "joint_states", 10)
        self._server = server(peer, FollowJointTrajectory, "fingers/follow_joint_trajectory", self._move)
        self._timer = peer.node.create_timer(0.05, self._tell)

    def _tell(self) -> None:
        self._states.publish(self._state(name=["arm", "left", "right"], position=[1.0, self._at, self._at]))

    def _move(self, goal: Any) -> Any:
        trajectory = goal.request.trajectory
        self.goals.append(trajectory)
        wanted = trajectory.points[0].positions[0]
        self._at = max(wanted, self.between) if wanted < self._at else wanted
        if self._at == wanted:
            goal.succeed()
            return self._kind.Result()
        goal.abort()  # as ros2_control does where a finger does not get there
        return self._kind.Result(error_code=self._kind.Result.GOAL_TOLERANCE_VIOLATED)


def test_trajectory_gripper_picks_up_and_notices_what_it_does_not_hold() -> None:
    fingers = {"gripper.action": "fingers/follow_joint_trajectory", "gripper.joints": "left right"}
    with bridge(**fingers) as (peer, _, call):
        controller = TrajectoryFingers(peer)
        assert call("GoToObject", "Apple").success
        picked = call("PickupObject", "Apple")
        assert (picked.success, picked.held_object) == (True, "Apple"), picked.message
        assert [goal.points[0].positions[0] for goal in controller.goals[:2]] == [0.04, 0.0]
        assert controller.goals[0].joint_names == ["left", "right"]
        put = call("PutObject", "Apple", "DiningTable")
        assert put.success, put.message
        controller.between = 0.0
        assert call("GoToObject", "Apple").success
        missed = call("PickupObject", "Apple")
        assert (missed.success, missed.reason) == (False, "execution")
        assert "closed on nothing" in missed.message


def test_trajectory_gripper_without_joint_states_names_the_parameter() -> None:
    def move(goal: Any) -> Any:
        goal.succeed()
        return FollowJointTrajectory.Result()

    with bridge(**{"gripper.action": "blind", "gripper.joints": "left right"}) as (peer, _, call):
        made = server(peer, FollowJointTrajectory, "blind", move)
        assert call("GoToObject", "Apple").success
        result = call("PickupObject", "Apple")
        assert "joint_states tell nothing of left, right (parameter gripper.joints)" in result.message
        made.destroy()


@pytest.fixture(scope="module")
def own_type(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The type of the user's own action, of a package of theirs."""
    from ros_embedded import add_interface_folder  # a machine with a real ROS need not have it

    folder = tmp_path_factory.mktemp("my_robot_msgs")
    (folder / "action").mkdir()
    (folder / "action" / "Pick.action").write_text(PICK)
    add_interface_folder("my_robot_msgs", folder)
    return get_action("my_robot_msgs/action/Pick")


@EMBEDDED
def test_own_pick_action_gets_the_mapped_goal_and_its_failure_is_told(own_type: Any, tmp_path: Path) -> None:
    goals: list[Any] = []
    ends = [(0, ""), (-4, "the vacuum is weak")]

    def pick(goal: Any) -> Any:
        goals.append(goal.request)
        goal.publish_feedback(own_type.Feedback(percent=0.5))
        goal.succeed()
        code, words = ends[len(goals) - 1]
        return own_type.Result(error_code=code, error_string=words)

    file = tmp_path / "actions.yaml"
    file.write_text(MAP)
    with bridge(action_map=str(file)) as (peer, robot, call):
        made = server(peer, own_type, "/own_pick", pick)
        assert call("GoToObject", "Apple").success
        picked = call("PickupObject", "Apple")
        assert (picked.success, picked.held_object) == (True, "Apple"), picked.message
        assert [(change.object_id, change.held) for change in picked.changes] == [("id-Apple", 1)]
        assert robot.arm_goals == []
        (goal,) = goals
        assert (goal.object_name, goal.max_effort) == ("the Apple", 12.0)
        assert goal.grasp_pose.header.frame_id == "map"
        place = goal.grasp_pose.pose.position
        assert (place.x, place.y, place.z) == pytest.approx((1.75, 0.2, 0.84))
        assert goal.size.z == pytest.approx(0.08)
        put = call("PutObject", "Apple", "DiningTable")
        assert put.success, "with the bridge's own arm"
        failed = call("PickupObject", "Apple")
        assert (failed.success, failed.reason) == (False, "execution")
        assert failed.message == "/own_pick: the vacuum is weak"
        made.destroy()


@EMBEDDED
@pytest.mark.parametrize("actions", [{}, {"PickupObject": "/another_pick"}])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("object_name:", "objekt_name:", "PickupObject.objekt_name: expected one of object_name, grasp_pose"),
        ("{object.pose}", "{object.speed}", "{object.speed}: expected pose, position, size"),
        ("{object.pose}", "{receptacle.pose}", "{receptacle.pose}: expected one of object"),
        ("error_string", "words", "words"),
        ("my_robot_msgs/action/Pick", "no_msgs/action/Pick", "no type no_msgs/action/Pick is installed"),
        ("PickupObject", "Explore", "no skills that can be mapped: Explore"),
        ("action: /own_pick", "server: /own_pick", "server"),
    ],
)
def test_map_that_does_not_fit_is_refused_at_the_start(
    own_type: Any, tmp_path: Path, old: str, new: str, said: str, actions: dict[str, str]
) -> None:
    file = tmp_path / "actions.yaml"
    file.write_text(MAP.replace(old, new))
    config = SkillsParameters.model_validate({"action_map": str(file), "actions": actions})
    context = rclpy.context.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("mapped", context=context)
    try:
        with pytest.raises(InvalidValueError) as error:
            ForwardedSkills(node, config, None)  # type: ignore[arg-type]
        assert said in str(error.value)
        assert "parameter action_map" in str(error.value)
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


class CartesianMoveIt:
    """MoveIt's service of Cartesian paths and its action that runs them. ways: the waypoints of each path."""

    def __init__(self, peer: RosPeer) -> None:
        self.ways: list[np.ndarray] = []
        self.fraction = 1.0
        self.run = 0
        self._kind = ExecuteTrajectory
        group = ReentrantCallbackGroup()
        peer.node.create_service(GetCartesianPath, "compute_cartesian_path", self._plan, callback_group=group)
        self._server = server(peer, ExecuteTrajectory, "execute_trajectory", self._execute)

    def _plan(self, request: Any, response: Any) -> Any:
        assert (request.group_name, request.link_name, request.header.frame_id) == ("arm", "gripper_link", "base_link")
        self.ways.append(np.array([[p.position.x, p.position.y, p.position.z] for p in request.waypoints]))
        response.fraction, response.error_code.val = self.fraction, 1
        return response

    def _execute(self, goal: Any) -> Any:
        self.run += 1
        goal.succeed()
        result = self._kind.Result()
        result.error_code.val = 1
        return result


def test_door_is_pulled_along_its_hinge_by_one_cartesian_path() -> None:
    with bridge(**{"arm.cartesian_path": "compute_cartesian_path", "plugins": "doors"}) as (peer, robot, call):
        moveit = CartesianMoveIt(peer)
        robot.objects = [
            thing("Fridge", 0.9, 0.0, 0.9, (0.6, 0.6, 1.8)) if o.class_name == "Fridge" else o for o in robot.objects
        ]
        opened = call("OpenObject", "Fridge")
        assert opened.success, opened.message
        wait_until(lambda: moveit.run == len(moveit.ways))
        pull = max(moveit.ways, key=len)
        turned = np.linalg.norm(np.diff(pull[:, :2], axis=0), axis=1)
        hinge = np.array([0.6, 0.3])
        assert np.linalg.norm(pull[0, :2] - pull[-1, :2]) > 0.15
        assert turned.max() < 0.06
        radii = [min(np.linalg.norm(point[:2] - side) for side in (hinge, hinge * [1, -1])) for point in pull]
        assert np.ptp(radii) < 0.06, "the hand stays as far from the hinge as the handle is"


LAMP_BEFORE_THE_ROBOT = thing("DeskLamp", 0.7, 0.0, 0.95, (0.15, 0.15, 0.3), states=(ObjectState.OFF,))
SWITCHES = {"plugins": "switches"}


def put_lamp_before(robot: SimulatedRobot) -> None:
    robot.objects = [one for one in robot.objects if one.class_name != "DeskLamp"] + [LAMP_BEFORE_THE_ROBOT]


def test_switch_is_pressed_along_one_cartesian_path() -> None:
    with bridge(**{"arm.cartesian_path": "compute_cartesian_path", **SWITCHES}) as (peer, robot, call):
        moveit = CartesianMoveIt(peer)
        put_lamp_before(robot)
        switched = call("SwitchOn", "DeskLamp")
        assert switched.success, switched.message
        assert [(change.object_id, change.added) for change in switched.changes] == [("id-DeskLamp", ["on"])]
        (press,) = moveit.ways
        assert moveit.run == 1
        face_m = 0.7 - 0.5 * 0.15
        assert press[[0, -1], 0] == pytest.approx([face_m - 0.02, face_m + 0.04])
        assert press[:, 1:] == pytest.approx(np.tile([0.0, 0.95], (len(press), 1)), abs=1e-6)
        assert robot.grips == [0.0], "pressed with the closed hand"


@pytest.mark.parametrize(("goes_on_at", "presses"), [(2, 2), (99, 3)])
def test_switch_that_is_seen_to_stay_is_pressed_again(goes_on_at: int, presses: int) -> None:
    with bridge(**{"expert.arm.look_s": "2.0", **SWITCHES}) as (peer, robot, call):

        def seen_now() -> list[Any]:
            state = ObjectState.ON if len(robot.grips) >= goes_on_at else ObjectState.OFF
            lamp = LAMP_BEFORE_THE_ROBOT.changed(
                states=(StateBelief(state, 0.9, 1),), last_seen_ns=peer.node.get_clock().now().nanoseconds
            )
            return [one for one in robot.objects if one.class_name != "DeskLamp"] + [lamp]

        robot.seen = seen_now
        result = call("SwitchOn", "DeskLamp")
        assert len(robot.grips) == presses
        assert result.success == (presses == 2), result.message
        if not result.success:
            assert (result.reason, result.message) == ("execution", "DeskLamp was pressed 3 times and is not on")
            assert not result.changes
