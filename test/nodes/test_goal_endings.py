"""Who waits for a goal learns its end from a server that ends, or that the server has gone without one."""

import threading
import time
import uuid
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from rclpy.action import ActionClient, ActionServer, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from robot_memory.action import ExecuteInstruction
from robot_memory.srv import GetSceneGraph
from ros_peer import RosPeer, wait_until
from unique_identifier_msgs.msg import UUID

from memory_node.nodes import goal_server
from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError
from memory_node.nodes.goal_server import Ending, GoalServer, GoalState, ServedGoal
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.service_clients import PeerTimeoutError


@pytest.fixture
def other(peer: RosPeer) -> Iterator[Any]:
    """Another node, which the same executor spins."""
    made = rclpy.create_node("other_peer", context=peer.context)
    peer.executor.add_node(made)
    yield made
    peer.executor.remove_node(made)
    made.destroy_node()


@pytest.fixture
def lingering(peer: RosPeer) -> Iterator[Any]:
    """A server of the action `linger`, whose goals end when they are canceled."""

    def carry_out(goal: ServedGoal) -> Ending:
        while not goal.is_canceled:
            time.sleep(0.01)
        return Ending(ExecuteInstruction.Result(), GoalState.CANCELED)

    running = RunningGoals(peer.node)
    yield GoalServer(peer.node, ExecuteInstruction, "linger", running, carry_out, lambda text: None)
    running.close()


def test_ending_server_waits_until_a_plain_client_should_have_the_result(lingering: Any, other: Any) -> None:
    client = ActionClient(other, ExecuteInstruction, "linger")
    try:
        assert client.wait_for_server(timeout_sec=10.0)
        sent = client.send_goal_async(ExecuteInstruction.Goal())
        wait_until(sent.done)
        result = sent.result().get_result_async()
        wait_until(lambda: not lingering.is_idle)
        time.sleep(0.2)  # the request for the result arrives
        lingering.end()
        assert not lingering.wait_idle(0.2), "its result has hardly left"
        assert lingering.wait_idle(2.0)
        lingering.close()
        wait_until(result.done)
    finally:
        client.destroy()


def test_ending_server_is_idle_only_when_who_is_there_waits_no_more(lingering: Any, other: Any) -> None:
    server, running, asker = lingering, lingering.running, RunningGoals(other)
    client = ActionClient(other, ExecuteInstruction, "linger")
    goal_id = uuid.uuid4().bytes
    try:
        assert client.wait_for_server(timeout_sec=10.0)
        with asker.asking("linger", goal_id):
            sent = client.send_goal_async(ExecuteInstruction.Goal(), goal_uuid=UUID(uuid=list(goal_id)))
            wait_until(lambda: sent.done() and running.other_side(goal_id) is not None)
            assert sent.result().accepted
            wait_until(lambda: not server.is_idle)
            server.end()
            assert not server.wait_idle(1.0), "it has ended, and the asker has not said that it knows"
        assert server.wait_idle(2.0)
    finally:
        asker.close()
        server.close()
        client.destroy()


def test_goal_whose_server_is_offered_no_more_is_not_waited_for(peer: RosPeer, other: Any) -> None:
    accepted, released = threading.Event(), threading.Event()

    def execute(handle: Any) -> Any:
        accepted.set()
        released.wait(20.0)
        return ExecuteInstruction.Result()

    group = ReentrantCallbackGroup()
    server = ActionServer(other, ExecuteInstruction, "vanish", execute, callback_group=group)
    running = RunningGoals(peer.node)
    client = GoalClient(peer.node, ExecuteInstruction, "vanish", running)
    errors: list[GoalStoppedError] = []

    def wait() -> None:
        try:
            client.run(ExecuteInstruction.Goal(), timeout_s=60.0)
        except GoalStoppedError as error:
            errors.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        assert accepted.wait(10.0)
        time.sleep(0.2)  # the goal's handle has reached its client, who has asked for the result
        server.destroy()
        waiting.join(10.0)
        assert [error.cause for error in errors] == [Cause.SERVER_GONE]
        assert "vanish is gone" in str(errors[0])
    finally:
        released.set()
        running.close()


def test_planner_that_waits_for_a_memory_node_can_be_stopped(peer: RosPeer) -> None:
    client = MemoryClient(peer.node, "memory_that_is_not_there")
    begun_s = time.monotonic()
    with pytest.raises(PeerTimeoutError, match="canceled"):
        client.wait(30.0, lambda: time.monotonic() > begun_s + 0.3)
    assert time.monotonic() < begun_s + 10.0


def test_ending_node_waits_no_more_for_a_service_that_has_gone(peer: RosPeer, other: Any) -> None:
    asked, released, ending = threading.Event(), threading.Event(), threading.Event()

    def answer(request: Any, response: Any) -> Any:
        asked.set()
        released.wait(30.0)
        return response

    service = other.create_service(GetSceneGraph, "memory/get_scene_graph", answer)
    client = MemoryClient(peer.node, "memory", timeout_s=10.0, is_ending=ending.is_set)
    errors: list[Exception] = []

    def wait() -> None:
        try:
            client.scene()
        except PeerTimeoutError as error:
            errors.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        assert asked.wait(20.0)
        ending.set()
        waiting.join(0.5)
        assert waiting.is_alive(), "a memory node that is there may still answer"
        other.destroy_service(service)
        waiting.join(5.0)
        assert len(errors) == 1
        assert "memory/get_scene_graph is not offered any more" in str(errors[0])
        begun_s = time.monotonic()
        with pytest.raises(PeerTimeoutError, match="no node offers"):
            client.scene()
        assert time.monotonic() < begun_s + 5.0
    finally:
        released.set()


def test_goal_whose_acceptance_could_not_be_sent_keeps_nobody_out(peer: RosPeer, monkeypatch: Any) -> None:
    """rclpy accepts a goal, fails to tell the client, which has gone, and does not begin it."""
    made, ends = SimpleNamespace(), []
    monkeypatch.setattr(goal_server, "ActionServer", lambda *_, **callbacks: vars(made).update(callbacks))
    monkeypatch.setattr(goal_server, "_BEGINS_S", 0.2)
    running = RunningGoals(peer.node)
    server = goal_server.GoalServer(peer.node, ExecuteInstruction, "linger", running, lambda _: None, str)
    first, second = ExecuteInstruction.Goal(), ExecuteInstruction.Goal()
    late = SimpleNamespace(request=first, goal_id=SimpleNamespace(uuid=[1] * 16), abort=lambda: ends.append("aborted"))
    try:
        assert made.goal_callback(first) == GoalResponse.ACCEPT
        assert made.goal_callback(second) == GoalResponse.REJECT
        wait_until(lambda: server.is_idle, 5.0)
        assert made.goal_callback(second) == GoalResponse.ACCEPT
        # It begins after all, and takes the turn of nobody.
        assert made.execute_callback(late) == "linger did not begin within 0.2 s"
        assert ends == ["aborted"]
        assert not server.is_idle
    finally:
        running.close()
