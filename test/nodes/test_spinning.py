"""A node goes on being called when another thread destroys what its executor is about to wait for."""

import threading
from typing import Any

from ros_peer import wait_until


def test_spin_goes_on_when_what_it_waits_for_was_destroyed(peer: Any) -> None:
    import rclpy
    from rclpy.exceptions import InvalidHandle
    from rclpy.executors import SingleThreadedExecutor

    from memory_node.nodes.spinning import spin

    called: list[int] = []

    class Interrupted(SingleThreadedExecutor):
        """Its third turn ends as rclpy's do in that case."""

        def spin_once(self, *args: Any, **kwargs: Any) -> None:
            super().spin_once(*args, **kwargs)
            if len(called) == 3:
                called.append(0)
                raise InvalidHandle("cannot use Destroyable because destruction was requested")

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
