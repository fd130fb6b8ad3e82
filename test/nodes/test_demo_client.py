"""What the demo hears of an instruction that does not end."""

import time
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from robot_memory.action import ExecuteInstruction
from ros_peer import RosPeer

from memory_node.app.demo.client import DemoClient


def test_instruction_that_takes_too_long_is_canceled_and_told_as_not_done(peer: RosPeer) -> None:
    def execute(handle: Any) -> Any:
        until_s = time.monotonic() + 20.0
        while not handle.is_cancel_requested and time.monotonic() < until_s:
            time.sleep(0.02)
        handle.canceled()
        result = ExecuteInstruction.Result(message="canceled by the caller")
        result.metrics.distance = 1.5
        return result

    server = ActionServer(
        peer.node,
        ExecuteInstruction,
        "execute_instruction",
        execute,
        callback_group=ReentrantCallbackGroup(),
        cancel_callback=lambda _: CancelResponse.ACCEPT,
    )
    try:
        with DemoClient(peer.domain_id) as client:
            result = client.run("tidy up", "full", lambda _: None, 0.5)
    finally:
        server.destroy()
    assert (result.success, result.metrics.distance) == (False, 1.5)
    assert "took more than 0.5 s" in result.message
