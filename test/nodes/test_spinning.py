"""A node goes on being called when another thread makes or destroys what its executor is about to wait for."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import rclpy
from rclpy.action import ActionClient
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from ros_peer import wait_until

from memory_node.nodes.spinning import spin


def destroyed() -> None:
    raise InvalidHandle("cannot use Destroyable because destruction was requested")


def destroyed_server() -> None:
    raise RuntimeError("Failed to add 'rcl_action_server_t' to wait set: action server pointer is invalid")


def half_made() -> None:
    """Kilted's action client enters its node before it has its lock."""
    print(ActionClient.__new__(ActionClient).not_yet)


@pytest.mark.parametrize("meet", [destroyed, destroyed_server, half_made])
def test_spin_goes_on_when_what_it_waits_for_is_not_whole(peer: Any, meet: Callable[[], None]) -> None:
    called: list[int] = []

    class Interrupted(SingleThreadedExecutor):
        """Its third turn ends as rclpy's do in that case."""

        def spin_once(self, *args: Any, **kwargs: Any) -> None:
            super().spin_once(*args, **kwargs)
            if len(called) == 3:
                called.append(0)
                meet()

    node = rclpy.create_node("interrupted", context=peer.context)
    node.create_timer(0.02, lambda: called.append(1))
    executor = Interrupted(context=peer.context)
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=(executor,), daemon=True)
    thread.start()
    wait_until(lambda: len(called) > 6, 10.0)
    executor.shutdown()
    thread.join(5.0)
    assert not thread.is_alive()
    node.destroy_node()
