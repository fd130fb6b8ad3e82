"""Spins an executor through what is destroyed meanwhile."""

from __future__ import annotations

import contextlib

from rclpy.exceptions import InvalidHandle
from rclpy.executors import Executor, ExternalShutdownException


def spin(executor: Executor) -> None:
    """Spin until the executor or ROS is shut down.

    rclpy's own spin ends with InvalidHandle when another thread destroys a client, a subscription or a node while the
    executor is about to wait for it; from then on nothing of the process would be called.
    """
    with contextlib.suppress(ExternalShutdownException):
        while True:
            with contextlib.suppress(InvalidHandle):
                executor.spin()
                return
