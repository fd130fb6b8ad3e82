"""Node tests run on the real rclpy where it is sourced, on ros_embedded elsewhere; each on a domain of its own."""

from collections.abc import Callable, Iterator

import pytest
from refusal import refusals
from ros_peer import RosPeer

from memory_node.nodes.run import activate_ros

activate_ros()


@pytest.fixture
def peer(domain_id: int) -> Iterator[RosPeer]:
    made = RosPeer(domain_id)
    yield made
    made.close()


@pytest.fixture
def refused(capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """Return what starts a node that cannot start, and gives what it says: refused(node, *ros_arguments)."""
    with refusals(lambda: capfd.readouterr().err) as refused_:
        yield refused_
