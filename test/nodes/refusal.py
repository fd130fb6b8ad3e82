"""What a node says that cannot start, without a process for each."""

import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memory_node.nodes.run import run_nodes


def line_of(told: str) -> str:
    """Return the one line that is no log line, which has its level and its logger."""
    *logged, line = told.strip().splitlines()
    assert all(one.startswith("[") and "]: " in one for one in logged)
    return line


@contextmanager
def refusals(read_stderr: Callable[[], str]) -> Iterator[Callable[..., str]]:
    """Yield what runs an executable's function in this process and returns what it says."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def refused(node: str, *words: str) -> str:
        gc.collect()  # what the real rclpy says when nodes of earlier tests are collected belongs to those
        read_stderr()
        assert run_nodes([node], ["test", "--ros-args", *words]) in (1, os.EX_CONFIG)
        told = read_stderr()
        assert "Traceback" not in told
        return told

    try:
        yield refused
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
