"""The memory of a running node, for programs that are no nodes themselves."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from memory_node.nodes.memory_client import MemoryClient

_WAIT_S = 10.0


@contextlib.contextmanager
def connected(node_name: str, domain_id: int) -> Iterator[MemoryClient]:
    """Join the node's domain for a while.

    Raises:
        PeerTimeoutError: no such node answers.
    """
    context = Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = rclpy.create_node("memory_agents", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, name="memory_agents", daemon=True)
    thread.start()
    try:
        memory = MemoryClient(node, node_name)
        memory.wait(_WAIT_S)
        yield memory
    finally:
        executor.shutdown()
        thread.join(2.0)
        node.destroy_node()
        rclpy.try_shutdown(context=context)
