"""Requests that are open when a node closes are answered first, up to the sending of the answer."""

import threading

import pytest

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.memory_services import OpenRequests


def test_closing_waits_until_the_executor_has_sent_the_answer() -> None:
    requests, service = OpenRequests("memory"), object()
    assert requests.beginning_execution(service)
    requests.require_open()
    closed = threading.Event()

    def close() -> None:
        requests.close(20.0)
        closed.set()

    closing = threading.Thread(target=close)
    closing.start()
    # Here the callback has returned, and its answer is not sent yet.
    assert not closed.wait(0.2)
    requests.ending_execution(service)
    assert closed.wait(20.0)
    closing.join()
    with pytest.raises(RobotMemoryError, match="memory is not active"):
        requests.require_open()


def test_closing_waits_no_longer_than_it_may() -> None:
    requests = OpenRequests("memory")
    requests.beginning_execution(object())
    requests.close(0.01)
    with pytest.raises(RobotMemoryError):
        requests.require_open()
