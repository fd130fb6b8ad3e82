"""What other nodes announce is taken in bounds: nobody can make a node hold more and more, or end it."""

import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from action_msgs.srv import CancelGoal
from node_process import NodeProcess
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_memory.action import ExecuteInstruction
from ros_peer import RosPeer, wait_until
from unique_identifier_msgs.msg import UUID

from memory_node.nodes import running_goals
from memory_node.nodes.goal_server import GoalServer


@pytest.fixture
def running(peer: RosPeer) -> Iterator[Any]:
    from memory_node.nodes.running_goals import RunningGoals

    made = RunningGoals(peer.node)
    yield made
    made.close()


def announced(actions: list[str], goals: int = 1) -> Any:
    """Return what a node that calls itself new announces."""
    from robot_memory.msg import RunningGoal, RunningGoals

    def new_id() -> UUID:
        return UUID(uuid=list(uuid.uuid4().bytes))

    asked = [RunningGoal(action=action, goal_id=new_id()) for action in actions for _ in range(goals)]
    return RunningGoals(node="somebody", session=new_id(), asked=asked)


def tell(peer: RosPeer, message: Any) -> None:
    peer.publish("running_goals", message, QoSProfile(depth=500, durability=DurabilityPolicy.TRANSIENT_LOCAL))


def first_goal(message: Any) -> bytes:
    return bytes(message.asked[0].goal_id.uuid)


def test_peers_are_bounded(peer: RosPeer, running: Any) -> None:
    messages = [announced([f"action_{number}"]) for number in range(300)]
    too_many = announced(["one"], goals=33)
    for message in (too_many, *messages):
        tell(peer, message)
    wait_until(lambda: running.other_side(first_goal(messages[-1])) is not None)
    assert sum(running.other_side(first_goal(message)) is not None for message in messages) <= 64
    assert running.other_side(first_goal(too_many)) is None


_NODE_WITH_A_GOAL = """
from memory_node.nodes.run import activate_ros
activate_ros()
import signal
import rclpy
from memory_node.nodes.running_goals import RunningGoals
rclpy.init()
with RunningGoals(rclpy.create_node("somebody")).asking("act", bytes(range(16))):
    while True:
        signal.pause()
"""


@pytest.fixture
def other(peer: RosPeer, running: Any, tmp_path: Path) -> Iterator[tuple[NodeProcess, Any]]:
    """A node with a goal in a process of its own, and what is known of it."""
    process = NodeProcess("somebody", ["-c", _NODE_WITH_A_GOAL], peer.domain_id, tmp_path / "somebody.log")
    try:
        wait_until(lambda: running.other_side(bytes(range(16))) is not None, 60.0)
        yield process, running.other_side(bytes(range(16)))
    finally:
        process.close()


def test_node_is_gone_at_once_when_its_process_is_killed(other: tuple[NodeProcess, Any]) -> None:
    process, node = other
    time.sleep(1.0)
    assert not node.is_gone
    process.signal(signal.SIGKILL)
    wait_until(lambda: node.is_gone, 0.5)
    assert node.node == "/somebody"


def test_node_that_gets_no_processor_is_not_gone_until_it_hangs(other: tuple[NodeProcess, Any]) -> None:
    """A machine whose cores are taken starves a process for a second and more, its DDS as well as its Python."""
    process, node = other
    for _ in range(2):
        process.signal(signal.SIGSTOP)
        for _ in range(15):
            assert not node.is_gone
            time.sleep(0.1)
        process.signal(signal.SIGCONT)
        time.sleep(0.5)
    process.signal(signal.SIGSTOP)
    wait_until(lambda: node.is_gone)
    process.signal(signal.SIGCONT)
    wait_until(lambda: not node.is_gone)


def test_node_on_another_machine_is_gone_when_it_falls_silent(
    monkeypatch: pytest.MonkeyPatch, peer: RosPeer, tmp_path: Path
) -> None:
    monkeypatch.setattr(running_goals, "watched_lifeline", lambda name: None)  # as from there
    running = running_goals.RunningGoals(peer.node)
    process = NodeProcess("somebody", ["-c", _NODE_WITH_A_GOAL], peer.domain_id, tmp_path / "somebody.log")
    try:
        wait_until(lambda: running.other_side(bytes(range(16))) is not None, 60.0)
        node = running.other_side(bytes(range(16)))
        time.sleep(2.0)
        assert not node.is_gone
        process.signal(signal.SIGSTOP)
        wait_until(lambda: node.is_gone, 2.0)
        process.signal(signal.SIGCONT)
        wait_until(lambda: not node.is_gone)
    finally:
        process.close()
        running.close()


def test_node_that_ends_with_a_goal_is_gone(peer: RosPeer, running: Any) -> None:
    from memory_node.nodes.running_goals import RunningGoals

    other, goal_id = rclpy.create_node("elsewhere", context=peer.context), uuid.uuid4().bytes
    with RunningGoals(other).asking("act", goal_id):
        wait_until(lambda: running.other_side(goal_id) is not None)
        time.sleep(1.0)
        assert not running.other_side(goal_id).is_gone
        other.destroy_node()
        wait_until(lambda: running.other_side(goal_id).is_gone)


def test_node_is_ready_to_cancel_what_its_server_has_running(peer: RosPeer, running: Any) -> None:
    peer.node.create_service(CancelGoal, "/drive/_action/cancel_goal", lambda request, response: response)
    with running.asking("execute", goal_id := uuid.uuid4().bytes):
        tell(peer, announced(["/elsewhere"]))
        message = announced(["/drive"])
        message.carried_out = [UUID(uuid=list(goal_id))]
        tell(peer, message)
        wait_until(lambda: peer.node.count_clients("/drive/_action/cancel_goal") == 1)
    assert peer.node.count_clients("/elsewhere/_action/cancel_goal") == 0, "it works for somebody else"


@pytest.mark.parametrize("name", ["", "no name", "a//b", "größer", "x" * 300, "{node}"])
def test_lost_node_with_names_of_no_actions_harms_nothing(peer: RosPeer, running: Any, name: str) -> None:
    message = announced([name])
    tell(peer, message)
    wait_until(lambda: running.other_side(first_goal(message)) is not None)
    running.cancel_for(running.other_side(first_goal(message)))


def test_refusal_that_fails_rejects_the_goal_and_leaves_the_node(peer: RosPeer, running: Any) -> None:
    def refusal(request: Any) -> str:
        raise ZeroDivisionError

    server = GoalServer(
        peer.node, ExecuteInstruction, "instruct", running, lambda goal: None, lambda message: None, refusal=refusal
    )
    client = ActionClient(peer.node, ExecuteInstruction, "instruct")
    assert client.wait_for_server(timeout_sec=10.0)
    asked = client.send_goal_async(ExecuteInstruction.Goal(instruction="anything"))
    wait_until(asked.done)
    assert not asked.result().accepted
    assert server.is_idle
    figures = server.diagnosis().figures
    assert (figures["refused"], figures["failed.instruct request"], figures["running"]) == (1, 1, False)
    assert "instruct failed 1 times" in server.diagnosis().message
    server.close()


def test_goal_that_fails_inside_is_answered_and_counted(peer: RosPeer, running: Any) -> None:
    def carry_out(goal: Any) -> Any:
        raise ZeroDivisionError("by nothing")

    def failure(message: str) -> Any:
        return ExecuteInstruction.Result(message=message)

    server = GoalServer(peer.node, ExecuteInstruction, "fail", running, carry_out, failure)
    client = ActionClient(peer.node, ExecuteInstruction, "fail")
    assert client.wait_for_server(timeout_sec=10.0)
    sent = client.send_goal_async(ExecuteInstruction.Goal(instruction="anything"))
    wait_until(sent.done)
    ended = sent.result().get_result_async()
    wait_until(ended.done)
    assert ended.result().result.message == "ZeroDivisionError: by nothing"
    wait_until(lambda: server.is_idle)
    figures = server.diagnosis().figures
    assert (figures["aborted"], figures["failed.fail"]) == (1, 1)
    server.close()


def test_closing_after_ros_was_shut_down_is_no_failure(peer: RosPeer, running: Any) -> None:
    from memory_node.nodes.running_goals import RunningGoals

    goal_id, context = uuid.uuid4().bytes, Context()
    rclpy.init(context=context, domain_id=peer.domain_id)
    node = rclpy.create_node("late", context=context)
    late = RunningGoals(node)
    with late.asking("act", goal_id):
        wait_until(lambda: running.other_side(goal_id) is not None)
        rclpy.shutdown(context=context)
    late.close()
    node.destroy_node()
