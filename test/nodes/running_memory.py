"""A memory node that runs in this process, on a domain of the test's own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from ros_peer import spun


@contextmanager
def running_memory(
    domain_id: int, database: str, beside: Mapping[str, Any] = MappingProxyType({}), **parameters: Any
) -> Iterator[Any]:
    """Yield a MemoryNode that spins in a thread. beside: parameters of other nodes of this process, as node:name."""
    import rclpy

    from memory_node.nodes.memory import MemoryNode

    given = {"database": database, **parameters}
    named = {**{f"memory:{name}": value for name, value in given.items()}, **beside}
    words = [word for name, value in named.items() for word in ("-p", f"{name}:={value}")]
    rclpy.init(args=["test", "--ros-args", *words], domain_id=domain_id)
    try:
        node = MemoryNode()
    except BaseException:  # the next test must find nothing of this one
        rclpy.try_shutdown()
        raise
    try:
        with spun(node):
            yield node
    finally:
        rclpy.try_shutdown()


def counted(node: Any) -> dict[str, int]:
    """Return what the node has used and skipped of its inputs."""
    return dict(node._counters.values())


def worked_off(node: Any) -> int:
    """Return how many frames the node has used, skipped or dropped."""
    return sum(count for name, count in counted(node).items() if name not in ("used.corrections", "used.maps"))
