"""No answer is lost that comes while what asked for it is still being sent."""

import time
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import client as rclpy_client
from robot_memory.action import ExecuteInstruction
from ros_peer import RosPeer

from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError
from memory_node.nodes.goal_server import Ending, GoalServer, GoalState, ServedGoal
from memory_node.nodes.running_goals import RunningGoals

SLOW_S = 0.3


@pytest.mark.skipif("ros_embedded" in str(rclpy.__file__), reason="ros_embedded notes a request before it sends it")
def test_answers_of_a_server_that_is_faster_than_the_sender_are_heard(
    peer: RosPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SlowFuture(rclpy_client.Future):  # made between a request and the note of its number
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            time.sleep(SLOW_S)

    def carry_out(goal: ServedGoal) -> Ending:
        waits = goal.request.instruction == "wait"
        while waits and not goal.is_canceled:
            time.sleep(0.01)
        return Ending(ExecuteInstruction.Result(), GoalState.CANCELED if waits else GoalState.SUCCEEDED)

    def failure(message: str) -> Any:
        return ExecuteInstruction.Result(message=message)

    monkeypatch.setattr(rclpy_client, "Future", SlowFuture)
    running = RunningGoals(peer.node)
    server = GoalServer(peer.node, ExecuteInstruction, "hurry", running, carry_out, failure)
    client = GoalClient(peer.node, ExecuteInstruction, "hurry", running, connect_s=5.0, stop_s=5.0)
    try:
        client.wait_for_server(10.0)
        ended = client.run(ExecuteInstruction.Goal(instruction="go"), timeout_s=5.0)
        assert ended.status == GoalStatus.STATUS_SUCCEEDED
        deadline_s = time.monotonic() + 3.0 * SLOW_S
        with pytest.raises(GoalStoppedError) as stopped:
            client.run(
                ExecuteInstruction.Goal(instruction="wait"), 10.0, is_canceled=lambda: time.monotonic() > deadline_s
            )
        assert (stopped.value.cause, stopped.value.response.status) == (Cause.CANCELED, GoalStatus.STATUS_CANCELED)
    finally:
        running.close()
        server.close()
