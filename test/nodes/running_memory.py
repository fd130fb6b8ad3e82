"""A memory node that runs in this process, on a domain of the test's own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def running_memory(domain_id: int, database: str, **parameters: Any) -> Iterator[Any]:
    """Yield a MemoryNode that spins in a thread."""
    import rclpy
    from rclpy.executors import MultiThreadedExecutor

    from memory_node.nodes.memory import MemoryNode

    given = {"database": database, **parameters}
    words = [word for name, value in given.items() for word in ("-p", f"memory:{name}:={value}")]
    rclpy.init(args=["test", "--ros-args", *words], domain_id=domain_id)
    node = MemoryNode()
    executor = MultiThreadedExecutor(num_threads=6)
    executor.add_node(node)

    def spin() -> None:
        while not ended.is_set():
            executor.spin_once(timeout_sec=0.1)

    ended = threading.Event()
    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        yield node
    finally:
        ended.set()
        thread.join(5.0)
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()


def counted(node: Any) -> dict[str, int]:
    """Return what the node has used and skipped of its inputs."""
    return dict(node._counters.values())


def worked_off(node: Any) -> int:
    """Return how many frames the node has used or skipped."""
    return sum(count for name, count in counted(node).items() if name == "used.frames" or name.startswith("skipped."))
