"""The memory of a running node, for programs that are no nodes themselves."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.inspected_views import NodeViews
from memory_node.nodes.instruction_client import InstructionClient
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.spinning import spin

_WAIT_S = 10.0


@contextlib.contextmanager
def inspected(node_name: str, domain_id: int) -> Iterator[tuple[MemoryClient, NodeViews]]:
    """Join the node's domain for a while, and follow what the node shows of itself.

    Raises:
        PeerTimeoutError: no such node answers.
        RobotMemoryError: the domain cannot be joined.
    """
    with _joined("memory_inspector", domain_id) as node:
        memory = MemoryClient(node, node_name)
        views = NodeViews(node, node_name, memory)
        memory.wait(_WAIT_S)
        yield memory, views


@contextlib.contextmanager
def commanded(domain_id: int) -> Iterator[InstructionClient]:
    """Join the robot's domain with a node that gives instructions; what runs at the end is cancelled.

    Raises:
        GoalStoppedError: no planner is there.
        RobotMemoryError: the domain cannot be joined.
    """
    # A node of its own: its sign of life must never wait for an answer of memory, or the robot stops.
    with _joined("memory_agent", domain_id) as node, contextlib.closing(InstructionClient(node)) as robot:
        robot.wait_for_server(_WAIT_S)
        yield robot


@contextlib.contextmanager
def _joined(own_name: str, domain_id: int) -> Iterator[Node]:
    """Give a node that spins in a thread."""
    context = Context()
    try:
        rclpy.init(context=context, domain_id=domain_id)
    except RuntimeError as error:  # rclpy's own for what the environment or the arguments ask in vain
        raise RobotMemoryError(" ".join(str(error).split())) from error
    node = rclpy.create_node(own_name, context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=(executor,), name=own_name, daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown()
        thread.join(2.0)
        node.destroy_node()
        rclpy.try_shutdown(context=context)
