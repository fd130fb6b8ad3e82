"""Waits for futures inside callbacks, each wait with a deadline, while other threads spin."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.task import Future

from memory_node.domain.errors import RobotMemoryError


class PeerTimeoutError(RobotMemoryError, TimeoutError):
    """Another node did not answer in time; the message names it."""


def result_of(future: Future, timeout_s: float, peer: str) -> Any:
    """Return the future's result once another executor thread has completed it.

    Raises:
        PeerTimeoutError: nothing came within `timeout_s`.
    """
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not done.wait(timeout_s):
        future.cancel()
        raise PeerTimeoutError(f"{peer} did not answer within {timeout_s:g} s; is its node running?")
    return future.result()
