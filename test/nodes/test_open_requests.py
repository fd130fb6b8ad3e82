"""Requests that are open when a node closes are answered first, up to the sending of the answer."""

import pytest

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.memory_services import OpenRequests


def test_closing_waits_no_longer_than_it_may() -> None:
    requests = OpenRequests("memory")
    requests.beginning_execution(object())
    requests.close(0.01)
    with pytest.raises(RobotMemoryError):
        requests.require_open()
