"""The shipped profiles fit servers of the names and definitions that their robots have."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from ros_peer import RosPeer
from running_bridge import Caller, running_bridge
from sensor_msgs.msg import JointState
from tf2_ros import StaticTransformBroadcaster

from memory_node.domain.geometry import Pose
from memory_node.domain.parameter_file import read_parameters
from memory_node.domain.resources import resource_path
from memory_node.nodes import conversions
from memory_node.nodes.skill_bridge.config import SkillsParameters

PROFILES = sorted(resource_path("config/robots/fetch.yaml").parent.glob("*.yaml"))


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = yaml.safe_dump(value, default_flow_style=True).removesuffix("\n...\n").strip()
    return found


class Fingers:
    """A gripper of the action that a profile names, with something between its fingers."""

    def __init__(self, peer: RosPeer, profile: SkillsParameters) -> None:
        self._gripper = profile.gripper
        self._at = self._gripper.open_position
        self._trajectory, self._command, self._state = FollowJointTrajectory, GripperCommand, JointState
        by_joints = bool(self._gripper.joints)
        kind = FollowJointTrajectory if by_joints else GripperCommand
        run = self._follow if by_joints else self._grip
        self._server = ActionServer(peer.node, kind, self._gripper.action, run, callback_group=ReentrantCallbackGroup())
        self._states = peer.node.create_publisher(JointState, "joint_states", 10)
        self._timer = peer.node.create_timer(0.05, self._tell)

    def _tell(self) -> None:
        joints = self._gripper.joints.split()
        self._states.publish(self._state(name=joints, position=[self._at] * len(joints)))

    def _move(self, wanted: float) -> None:
        shut, wide = self._gripper.closed_position, self._gripper.open_position
        self._at = shut + 0.2 * (wide - shut) if wanted == shut else wanted

    def _follow(self, goal: Any) -> Any:
        self._move(goal.request.trajectory.points[0].positions[0])
        goal.succeed()
        return self._trajectory.Result()

    def _grip(self, goal: Any) -> Any:
        wanted = goal.request.command.position
        self._move(wanted)
        goal.succeed()
        reached = self._at == wanted
        return self._command.Result(position=self._at, stalled=not reached, reached_goal=reached)


@pytest.mark.parametrize("path", PROFILES, ids=[path.stem for path in PROFILES])
def test_robot_of_a_profile_picks_up_and_puts_down(path: Path) -> None:
    profile = read_parameters(SkillsParameters, path, "skills")
    given = flat(yaml.safe_load(path.read_text())["/**/skills"]["ros__parameters"])
    with running_bridge(given) as (peer, robot, _):
        if profile.base_frame != "base_link":
            fixed = StaticTransformBroadcaster(peer.node)
            fixed.sendTransform(conversions.transform_to_msg(Pose(), "base_link", profile.base_frame, 0))
        gripper = Fingers(peer, profile)
        call = Caller(peer)
        for skill, arguments in (
            ("GoToObject", ("Apple",)),
            ("PickupObject", ("Apple",)),
            ("PutObject", ("Apple", "DiningTable")),
        ):
            result = call(skill, *arguments)
            assert result.success, f"{skill}: {result.message}"
        groups = {goal.request.group_name for goal in robot.arm_goals}
        assert groups == {profile.arm.group}
        assert gripper is not None
        call.close()
