"""What other nodes announce is taken in bounds: nobody can make a node hold more and more, or end it."""

import os
import uuid
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from ros_peer import RosPeer, wait_until


@pytest.fixture
def running(peer: RosPeer) -> Iterator[Any]:
    from memory_node.nodes.running_goals import RunningGoals

    made = RunningGoals(peer.node)
    yield made
    made.close()


def announced(actions: list[str], goals: int = 1, process: str = "") -> Any:
    """Return what a node that calls itself new announces; process: the name of its process."""
    from robot_memory.msg import RunningGoal, RunningGoals
    from unique_identifier_msgs.msg import UUID

    def new_id() -> UUID:
        return UUID(uuid=list(uuid.uuid4().bytes))

    asked = [RunningGoal(action=action, goal_id=new_id()) for action in actions for _ in range(goals)]
    return RunningGoals(node="somebody", session=new_id(), process=process, asked=asked)


def test_peers_and_clients_are_bounded(running: Any) -> None:
    for number in range(300):
        running._on_announcement(announced([f"action_{number}"]))
    assert len(running._peers) == 64
    assert len(running._cancellers) == 64
    assert "action_299" in running._cancellers
    running._on_announcement(announced(["one"], goals=33))
    assert not running.is_announced(b"")
    assert "one" not in running._cancellers


def test_nobody_is_gone_because_this_process_paused(peer: RosPeer) -> None:
    from memory_node.nodes.awake_clock import AwakeClock
    from memory_node.nodes.running_goals import RunningGoals

    now_s = [100.0]
    running = RunningGoals(peer.node, silence_s=0.3, clock=AwakeClock(lambda: now_s[0]))
    try:
        message = announced(["one"])
        goal_id = bytes(message.asked[0].goal_id.uuid)
        running._on_announcement(message)
        now_s[0] += 5.0
        running._on_liveliness(SimpleNamespace(alive_count_change=-1))
        assert running.lost_asker(goal_id) == ""
        running._on_announcement(message)  # had waited to be read
        for _ in range(4):
            now_s[0] += 0.06
            assert running.lost_asker(goal_id) == ""
        running._on_liveliness(SimpleNamespace(alive_count_change=-1))
        for _ in range(2):
            now_s[0] += 0.06
            running.lost_asker(goal_id)
        assert running.lost_asker(goal_id) == "somebody"
    finally:
        running.close()


def test_silent_node_is_gone_only_when_its_process_is(peer: RosPeer) -> None:
    """A node without a processor says nothing, and DDS misses its liveliness."""
    from memory_node.nodes.process_identity import identity_of
    from memory_node.nodes.running_goals import RunningGoals

    now_s = [100.0]
    running = RunningGoals(peer.node, silence_s=0.3, clock=lambda: now_s[0])
    there = identity_of(os.getppid())
    try:
        waits, ended = announced(["one"], process=there), announced(["one"], process=f"{there}0")
        ids = [bytes(message.asked[0].goal_id.uuid) for message in (waits, ended)]
        for message in (waits, ended):
            running._on_announcement(message)
        now_s[0] += 0.2
        assert [running.lost_asker(goal_id) for goal_id in ids] == ["", ""]
        now_s[0] += 0.2
        assert [running.lost_asker(goal_id) for goal_id in ids] == ["", "somebody"], "DDS has not missed it yet"
        running._on_liveliness(SimpleNamespace(alive_count_change=-1))
        now_s[0] += 4.0
        assert running.lost_asker(ids[0]) == ""
        now_s[0] += 0.2
        assert running.lost_asker(ids[0]) == "somebody", "it hangs"
        same = announced(["one"], process=identity_of(os.getpid()))
        running._on_announcement(same)
        running._on_liveliness(SimpleNamespace(alive_count_change=-1))
        now_s[0] += 0.4
        assert running.lost_asker(bytes(same.asked[0].goal_id.uuid)) == "", "what DDS missed was another one"
        running._on_liveliness(SimpleNamespace(alive_count_change=-1))
        assert running.lost_asker(bytes(same.asked[0].goal_id.uuid)) == "somebody"
    finally:
        running.close()


@pytest.mark.parametrize("name", ["", "no name", "a//b", "größer", "x" * 300, "{node}"])
def test_name_of_no_action_is_skipped(running: Any, name: str) -> None:
    running._on_announcement(announced([name, "fine"]))
    assert list(running._cancellers) == ["fine"] or set(running._cancellers) == {name, "fine"}
    running.cancel(name, uuid.uuid4().bytes)


def test_refusal_that_fails_rejects_the_goal_and_leaves_the_node(peer: RosPeer, running: Any) -> None:
    from rclpy.action import ActionClient
    from robot_memory.action import ExecuteInstruction

    from memory_node.nodes.goal_server import GoalServer

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
    from rclpy.action import ActionClient
    from robot_memory.action import ExecuteInstruction

    from memory_node.nodes.goal_server import GoalServer

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
