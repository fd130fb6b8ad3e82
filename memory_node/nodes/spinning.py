"""Spins an executor through what is destroyed meanwhile."""

from __future__ import annotations

import contextlib
import time

from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor

_PAUSE_S = 0.01  # what is destroyed and still waited for is met again at once


def spin(executor: SingleThreadedExecutor | MultiThreadedExecutor) -> None:
    """Spin until the executor or ROS is shut down.

    rclpy's own spin ends with InvalidHandle when another thread destroys a client, a subscription or a node while the
    executor is about to wait for it; from then on nothing of the process would be called.
    """
    with contextlib.suppress(ExternalShutdownException):
        while True:
            try:
                executor.spin()
                return
            except InvalidHandle as error:
                for node in tuple(executor.get_nodes())[:1]:
                    node.get_logger().warning(f"went on after {error}", throttle_duration_sec=10.0)
                time.sleep(_PAUSE_S)
