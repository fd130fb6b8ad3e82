"""Node tests run on the real rclpy where it is sourced, on ros_embedded elsewhere; each on a domain of its own."""

import os
from collections.abc import Iterator

import pytest
from ros_peer import RosPeer

from memory_node.nodes.run import activate_ros

activate_ros()


@pytest.fixture
def peer() -> Iterator[RosPeer]:
    made = RosPeer(domain_id=10 + os.getpid() % 40)
    yield made
    made.close()
