"""Whoever ends, and however: the robot stops at once, who waits is told, and no process is left."""

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from free_domain import free_domain
from node_process import NodeProcess, node_processes
from robot_memory.action import ExecuteInstruction, ExecuteSkill
from robot_memory.msg import SkillCall
from ros_peer import RosPeer, wait_until
from skill_robot import SimulatedRobot

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.goal_client import GoalClient
from memory_node.nodes.running_goals import RunningGoals

SKILLS = {"expert.base.candidates": 2, "arm.carry": "shoulder=0.5", "expert.base.silence_s": 30.0}
STOPS_WITHIN_S = 0.5
ENDS_WITHIN_S = 2.0
LOADED_S = 1.0  # what a machine that runs other tests beside may add


@pytest.fixture
def peer(own_peer: RosPeer) -> RosPeer:
    return own_peer  # what was killed stays in the graph for 10 s, and takes goals that nobody answers


@pytest.fixture
def robot(peer: RosPeer) -> Iterator[SimulatedRobot]:
    made = SimulatedRobot(peer.node)
    yield made
    made.close()


class Waiting:
    """Somebody who has sent a goal and waits for its end in a thread."""

    def __init__(self, peer: RosPeer, action_type: Any, name: str, **goal: Any) -> None:
        self.running = RunningGoals(peer.node)
        self._client = GoalClient(peer.node, action_type, name, self.running, connect_s=60.0)
        self._goal = action_type.Goal(**goal)
        self.response: Any = None
        self.error: Exception | None = None
        self.ended_s = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.response = self._client.run(self._goal, 60.0)
        except RobotMemoryError as error:
            self.error = error
        self.ended_s = time.monotonic()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)
        waits = self._thread.is_alive()
        self.running.close()  # in any case: a thread that is left behind fails, and the next test's diagnostics tell
        assert not waits, "who waits for the goal was not told that it has ended"


def skill(peer: RosPeer, name: str, *arguments: str) -> Waiting:
    return Waiting(peer, ExecuteSkill, "execute_skill", call=SkillCall(skill=name, arguments=list(arguments)))


def instruction(peer: RosPeer, text: str) -> Waiting:
    return Waiting(peer, ExecuteInstruction, "execute_instruction", instruction=text, memory="full")


def assert_nothing_follows(robot: SimulatedRobot, asked: int) -> None:
    place = robot.pose.position.copy()
    time.sleep(1.0)
    assert robot.asked == asked, "the robot was sent further goals"
    assert np.array_equal(robot.pose.position, place), "the base drives on"


def test_ending_skills_node_stops_the_base_and_answers(peer: RosPeer, robot: SimulatedRobot, tmp_path: Path) -> None:
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS}) as nodes:
        robot.slow = True
        caller = skill(peer, "GoToObject", "Apple")
        wait_until(lambda: robot.drives, 60.0)
        signalled_s = nodes["skills"].signal(signal.SIGTERM)
        assert robot.drive_canceled.wait(STOPS_WITHIN_S)
        asked = robot.asked
        assert nodes["skills"].wait(ENDS_WITHIN_S) == 0
        assert time.monotonic() - signalled_s < ENDS_WITHIN_S
        caller.join(1.0)
        result = caller.response.result
        assert (caller.response.status, result.reason) == (GoalStatus.STATUS_ABORTED, "canceled")
        assert "being stopped" in result.message
        assert "Traceback" not in nodes["skills"].log
    assert_nothing_follows(robot, asked)


@pytest.mark.parametrize("part", ["arm", "gripper"])
def test_ending_skills_node_stops_arm_and_gripper_and_says_what_the_hand_holds(
    peer: RosPeer, robot: SimulatedRobot, tmp_path: Path, part: str
) -> None:
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS}) as nodes:
        for name, argument in (("GoToObject", "Apple"), ("PickupObject", "Apple")):
            caller = skill(peer, name, argument)
            caller.join(60.0)
            assert caller.response.result.success, caller.response.result.message
        goals = robot.arm_goals if part == "arm" else robot.grips
        before = len(goals)
        robot.arm_waits, robot.gripper_waits = part == "arm", part == "gripper"
        caller = skill(peer, "PutObject", "Apple", "DiningTable")
        wait_until(lambda: len(goals) > before)
        nodes["skills"].signal(signal.SIGINT)
        assert (robot.arm_canceled if part == "arm" else robot.gripper_canceled).wait(STOPS_WITHIN_S)
        asked = robot.asked
        assert nodes["skills"].wait(ENDS_WITHIN_S) == 0
        caller.join(1.0)
        assert (caller.response.result.reason, caller.response.result.held_object) == ("canceled", "Apple")
    assert_nothing_follows(robot, asked)


def test_ending_planner_stops_the_robot_and_answers(peer: RosPeer, robot: SimulatedRobot, tmp_path: Path) -> None:
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS, "planner": {}}) as nodes:
        robot.slow = True
        caller = instruction(peer, "pick up the apple")
        wait_until(lambda: robot.drives, 60.0)
        nodes["planner"].signal(signal.SIGTERM)
        assert robot.drive_canceled.wait(STOPS_WITHIN_S)
        asked = robot.asked
        assert nodes["planner"].wait(ENDS_WITHIN_S) == 0
        caller.join(1.0)
        result = caller.response.result
        assert (caller.response.status, result.success, result.held_object) == (GoalStatus.STATUS_ABORTED, False, "")
        assert "being stopped" in result.message
        assert [call.skill for call in result.executed] == ["GoToObject"]
        assert "Traceback" not in nodes["planner"].log
    assert_nothing_follows(robot, asked)


def test_killed_planner_stops_the_robot(peer: RosPeer, robot: SimulatedRobot, tmp_path: Path) -> None:
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS, "planner": {}}) as nodes:
        client = _client_process(tmp_path, peer.domain_id)  # a plain one, which cancels nothing of a lost planner's
        try:
            robot.slow = True
            wait_until(lambda: robot.drives, 60.0)
            time.sleep(0.3)
            nodes["planner"].signal(signal.SIGKILL)
            assert robot.drive_canceled.wait(STOPS_WITHIN_S)
        finally:
            client.close()
        asked = robot.asked
        assert_nothing_follows(robot, asked)
        assert "planner is gone: stopping" in nodes["skills"].log
        robot.reset()
        again = skill(peer, "GoToObject", "Apple")
        again.join(10.0)
        assert again.response.result.success, "the skills node goes on without the planner"


def test_client_is_told_that_the_planner_was_killed(peer: RosPeer, robot: SimulatedRobot, tmp_path: Path) -> None:
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS, "planner": {}}) as nodes:
        robot.slow = True
        caller = instruction(peer, "pick up the apple")
        wait_until(lambda: robot.drives, 60.0)
        time.sleep(0.3)
        nodes["planner"].signal(signal.SIGKILL)
        caller.join(STOPS_WITHIN_S + 0.5)
        assert "planner is gone" in str(caller.error)


def test_planner_stops_what_a_killed_skills_node_had_running(
    peer: RosPeer, robot: SimulatedRobot, tmp_path: Path
) -> None:
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS, "planner": {}}) as nodes:
        robot.slow = True
        caller = instruction(peer, "pick up the apple")
        wait_until(lambda: robot.drives, 60.0)
        time.sleep(0.3)
        nodes["skills"].signal(signal.SIGKILL)
        assert robot.drive_canceled.wait(STOPS_WITHIN_S)
        asked = robot.asked
        caller.join(2.0)
        assert not caller.response.result.success
        assert "is gone" in caller.response.result.message
    assert_nothing_follows(robot, asked)


def test_lost_client_of_an_instruction_stops_the_robot(peer: RosPeer, robot: SimulatedRobot, tmp_path: Path) -> None:
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS, "planner": {}}) as nodes:
        client = _client_process(tmp_path, peer.domain_id)
        try:
            robot.slow = True
            wait_until(lambda: robot.drives, 60.0)
            time.sleep(0.3)
            client.signal(signal.SIGTERM)  # handled by nothing in it: it leaves no word
            assert client.wait(5.0) != 0
        finally:
            client.close()
        # It announces nothing, like `ros2 action send_goal`: DDS tells after its lease (10 s; Fast DDS 20 s).
        assert robot.drive_canceled.wait(30.0)
        asked = robot.asked
        wait_until(lambda: "who sent the goal is gone" in nodes["planner"].log)
        assert_nothing_follows(robot, asked)


def test_client_of_a_skill_that_ends_stops_the_robot_beside_a_planner(
    peer: RosPeer, robot: SimulatedRobot, tmp_path: Path
) -> None:
    """The planner is a client of the same action all the time; it has not sent this goal."""
    with node_processes(tmp_path, peer.domain_id, {"skills": SKILLS, "planner": {}}) as nodes:
        wait_until(lambda: "ready at execute_instruction" in nodes["planner"].log, 60.0)
        client = _client_process(tmp_path, peer.domain_id, _SKILL_CLIENT)
        try:
            robot.slow = True
            wait_until(lambda: robot.drives, 60.0)
            time.sleep(1.0)
            assert not robot.drive_canceled.is_set()
            client.signal(signal.SIGINT)
            client.wait(30.0)
            assert robot.drive_canceled.wait(2.0), "it has left the graph in order"
        finally:
            client.close()
        asked = robot.asked
        wait_until(lambda: "who sent the goal is gone" in nodes["skills"].log)
        assert_nothing_follows(robot, asked)


_SKILL_CLIENT = """
from memory_node.nodes.run import activate_ros
activate_ros()
import rclpy
from rclpy.action import ActionClient
from robot_memory.action import ExecuteSkill
from robot_memory.msg import SkillCall
rclpy.init()
node = rclpy.create_node("client")
client = ActionClient(node, ExecuteSkill, "execute_skill")
assert client.wait_for_server(timeout_sec=60.0)
sent = client.send_goal_async(ExecuteSkill.Goal(call=SkillCall(skill="GoToObject", arguments=["Apple"])))
rclpy.spin_until_future_complete(node, sent)
rclpy.spin_until_future_complete(node, sent.result().get_result_async())
"""

_CLIENT = """
from memory_node.nodes.run import activate_ros
activate_ros()
import rclpy
from rclpy.action import ActionClient
from robot_memory.action import ExecuteInstruction
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
node = rclpy.create_node("client")
client = ActionClient(node, ExecuteInstruction, "execute_instruction")
assert client.wait_for_server(timeout_sec=60.0)
goal = ExecuteInstruction.Goal(instruction="pick up the apple", memory="full")
sent = client.send_goal_async(goal)
rclpy.spin_until_future_complete(node, sent)
rclpy.spin_until_future_complete(node, sent.result().get_result_async())
"""


def _client_process(folder: Path, domain_id: int, program: str = _CLIENT) -> NodeProcess:
    return NodeProcess("client", ["-c", program], domain_id, folder / "client.log")


_BASE = """
from memory_node.nodes.run import activate_ros
activate_ros()
import time
import rclpy
from nav2_msgs.action import NavigateToPose
from rclpy.action import ActionServer
rclpy.init()
node = rclpy.create_node("bt_navigator")
def drive(goal):
    print("driving", flush=True)
    while True:
        goal.publish_feedback(NavigateToPose.Feedback(distance_remaining=1.0))
        time.sleep(0.05)
server = ActionServer(node, NavigateToPose, "own_base", drive)
rclpy.spin(node)
"""


def test_killed_nav2_is_told_within_two_seconds(peer: RosPeer, robot: SimulatedRobot, tmp_path: Path) -> None:
    base = NodeProcess("base", ["-c", _BASE], peer.domain_id, tmp_path / "base.log")
    skills = {"expert.base.candidates": 2, "base.action": "own_base"}
    try:
        with node_processes(tmp_path, peer.domain_id, {"skills": skills}):
            caller = skill(peer, "GoToObject", "Apple")
            wait_until(lambda: "driving" in base.log, 60.0)
            time.sleep(1.0)
            killed_s = base.signal(signal.SIGKILL)
            caller.join(15.0)
            assert caller.ended_s - killed_s < 2.0 + LOADED_S
            assert caller.response.result.reason == "timeout"
            assert "own_base (parameter base.action) gave no feedback for" in caller.response.result.message
    finally:
        base.close()


def test_drive_goes_on_after_a_machine_stood_still(peer: RosPeer, robot: SimulatedRobot, tmp_path: Path) -> None:
    base = NodeProcess("base", ["-c", _BASE], peer.domain_id, tmp_path / "base.log")
    try:
        skills = {"expert.base.candidates": 2, "base.action": "own_base"}
        with node_processes(tmp_path, peer.domain_id, {"skills": skills}) as nodes:
            caller = skill(peer, "GoToObject", "Apple")
            wait_until(lambda: "driving" in base.log, 60.0)
            time.sleep(1.0)
            stopped = (nodes["skills"], base)
            for process in stopped:
                process.signal(signal.SIGSTOP)
            time.sleep(2.3)
            for process in stopped:
                process.signal(signal.SIGCONT)
            time.sleep(1.0)
            assert caller.response is None, caller.response.result.message
            assert caller.error is None
            nodes["skills"].signal(signal.SIGTERM)
            caller.join(15.0)
    finally:
        base.close()


def test_instruction_goes_on_when_its_memory_is_killed_and_comes_again(tmp_path: Path) -> None:
    peer = RosPeer(free_domain())
    parameters: dict[str, dict[str, Any]] = {
        "home": {"home": "studio", "speed": 2.0, "expert.camera_period_s": 4.0, "noisy": "false"},
        "memory": {"database": str(tmp_path / "memory.db"), "use_sim_time": "true"},
        "planner": {"use_sim_time": "true"},
    }
    (tmp_path / "again").mkdir()
    try:
        with node_processes(tmp_path, peer.domain_id, parameters) as nodes:
            caller = instruction(peer, "put the apple in the bowl")
            wait_until(lambda: "instruction 'put" in nodes["planner"].log, 60.0)
            wait_until(lambda: "remembering" in nodes["memory"].log, 60.0)
            time.sleep(2.0)
            nodes["memory"].signal(signal.SIGKILL)
            with node_processes(tmp_path / "again", peer.domain_id, {"memory": parameters["memory"]}) as later:
                caller.join(90.0)
                assert caller.error is None
                result = caller.response.result
                assert result.success or result.message, "it ends in words"
                wait_until(lambda: "remembering" in later["memory"].log, 60.0)
                again = instruction(peer, "where is the apple?")
                again.join(60.0)
                assert again.response.result.success, again.response.result.message
            assert "Traceback" not in nodes["planner"].log
    finally:
        peer.close()


def test_interrupt_of_a_whole_robot_leaves_no_process_and_no_error(tmp_path: Path) -> None:
    """Ctrl-C in a terminal, or `ros2 launch`: every process gets the signal at the same time."""
    peer = RosPeer(free_domain())
    parameters: dict[str, dict[str, Any]] = {
        "home": {"home": "studio", "speed": 1.0, "expert.camera_period_s": 4.0, "noisy": "false"},
        "memory": {"database": str(tmp_path / "memory.db"), "use_sim_time": "true"},
        "planner": {"use_sim_time": "true"},
    }
    try:
        with node_processes(tmp_path, peer.domain_id, parameters) as nodes:
            caller = instruction(peer, "put the apple in the bowl")
            wait_until(lambda: "instruction 'put" in nodes["planner"].log, 60.0)
            wait_until(lambda: caller.running.others_are_busy, 60.0)
            time.sleep(1.0)
            for process in nodes.values():
                process.signal(signal.SIGINT)
                process.signal(signal.SIGINT)  # launch passes on what the terminal has sent already
            assert {name: process.wait(ENDS_WITHIN_S) for name, process in nodes.items()} == dict.fromkeys(nodes, 0)
            caller.join(1.0)
            assert "being stopped" in caller.response.result.message
            for process in nodes.values():
                assert "Traceback" not in process.log
                assert "rror" not in process.log
    finally:
        peer.close()


def test_nodes_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    starts = (
        "import subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-m', 'memory_node.nodes.run', 'planner']); "
        "print(child.pid, flush=True); child.wait()"
    )
    parent = NodeProcess("parent", ["-c", starts], free_domain(), tmp_path / "parent.log")
    try:
        wait_until(lambda: "ready at execute_instruction" in parent.log, 60.0)
        pid = int(parent.log.split()[0])
        parent.signal(signal.SIGKILL)
        parent.wait(5.0)
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), 30.0)
    finally:
        parent.close()
