"""A running ROS for tests: ros_embedded, or the real rclpy where it is sourced; on loopback, in a domain of its own."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from free_domain import free_domain

import ros_embedded

# A shell starts a suite in the background with Ctrl-C ignored, and so would be all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_DOMAIN_ID"] = str(free_domain())
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"  # Jazzy's message classes check types and ranges only if asked to
ros_embedded.activate()

import rclpy  # noqa: E402 - only importable once activated
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402


@pytest.fixture(scope="session")
def ros2_golden() -> Path:
    """Return the recordings of a real ROS 2: the folder ROS2_GOLDEN, or shared/ros2_golden in a folder above this."""
    beside = [folder / "shared" / "ros2_golden" for folder in Path(__file__).resolve().parents]
    named = [Path(os.environ["ROS2_GOLDEN"])] if "ROS2_GOLDEN" in os.environ else []
    for folder in (*named, *beside):
        if folder.is_dir():
            return folder
    pytest.skip("no recordings of a real ROS 2 (set ROS2_GOLDEN)")


@pytest.fixture
def context() -> Iterator[rclpy.context.Context]:
    running = rclpy.context.Context()
    running.init(args=[])
    yield running
    running.try_shutdown()


@pytest.fixture
def executor(context: rclpy.context.Context) -> Iterator[SingleThreadedExecutor]:
    running = SingleThreadedExecutor(context=context)
    yield running
    running.shutdown()


@pytest.fixture
def make_node(context: rclpy.context.Context, executor: SingleThreadedExecutor) -> Iterator[Callable[..., Node]]:
    """Return a function that makes nodes which the executor spins."""
    nodes: list[Node] = []

    def make(name: str = "node", kind: type[Node] = Node, **options: object) -> Node:
        node = kind(name, context=context, **options)
        nodes.append(node)
        executor.add_node(node)
        return node

    yield make
    for node in nodes:
        executor.remove_node(node)
        node.destroy_node()


@pytest.fixture
def spin_until(executor: SingleThreadedExecutor) -> Callable[..., bool]:
    """Return a function that spins until a condition holds, and says whether it came to hold."""

    def spin(condition: Callable[[], object], timeout_s: float = 5.0) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.02)
        return bool(condition())

    return spin


@pytest.fixture
def call(spin_until: Callable[..., bool]) -> Callable[[Any, Any], Any]:
    """Return a function that asks a service once it is there, and returns its answer: call(client, request)."""

    def ask(client: Any, request: Any) -> Any:
        assert spin_until(client.service_is_ready)
        future = client.call_async(request)
        assert spin_until(future.done)
        return future.result()

    return ask


@pytest.fixture
def link(spin_until: Callable[..., bool]) -> Callable[..., Any]:
    """Return a function that subscribes a node to a topic; its publisher, once they know each other."""

    def subscribe(node: Node, kind: type, topic: str, callback: Callable[..., Any], qos: Any = 10, **more: Any) -> Any:
        node.create_subscription(kind, topic, callback, qos, **more)
        publisher = node.create_publisher(kind, topic, qos)
        assert spin_until(lambda: publisher.get_subscription_count() == 1)
        return publisher

    return subscribe
