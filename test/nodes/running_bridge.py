"""The skills node in this process, before simulated Nav2, MoveIt and gripper servers, on a domain of its own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import rclpy
from free_domain import free_domain
from rclpy.action import ActionClient
from robot_memory.action import ExecuteSkill
from robot_memory.msg import SkillCall
from ros_peer import RosPeer, spun
from skill_robot import SimulatedRobot

from memory_node.nodes.service_clients import result_of
from memory_node.nodes.skills import SkillsNode


class Caller:
    """Sends ExecuteSkill goals."""

    def __init__(self, peer: RosPeer) -> None:
        self.feedback: list[Any] = []
        self._action = ExecuteSkill
        self._client = ActionClient(peer.node, ExecuteSkill, "execute_skill")
        assert self._client.wait_for_server(timeout_sec=20.0)

    def close(self) -> None:
        self._client.destroy()

    def send(self, skill: str, *arguments: str) -> Any:
        goal = self._action.Goal(call=SkillCall(skill=skill, arguments=list(arguments)))
        sent = self._client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        return result_of(sent, 10.0, "execute_skill")

    def __call__(self, skill: str, *arguments: str) -> Any:
        return result_of(self.send(skill, *arguments).get_result_async(), 20.0, "execute_skill").result


@contextmanager
def running_bridge(parameters: Mapping[str, str]) -> Iterator[tuple[RosPeer, SimulatedRobot, Any]]:
    """Yield a peer, the robot's servers and the node."""
    peer = RosPeer(free_domain())
    robot = SimulatedRobot(peer.node)
    words = [word for name, value in parameters.items() for word in ("-p", f"skills:{name}:={value}")]
    rclpy.init(args=["skills", "--ros-args", *words], domain_id=peer.domain_id)
    try:
        node = SkillsNode()
    except BaseException:  # the next test must find nothing of this one
        rclpy.try_shutdown()
        robot.close()
        peer.close()
        raise
    try:
        with spun(node):
            yield peer, robot, node
            robot.close()
    finally:
        rclpy.try_shutdown()
        peer.close()
