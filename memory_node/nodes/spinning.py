"""Spins an executor through what is made and destroyed meanwhile."""

from __future__ import annotations

import contextlib
import time

from rclpy.action import ActionClient
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor

_PAUSE_S = 0.01  # what is not whole and still waited for is met again at once


def spin(executor: SingleThreadedExecutor | MultiThreadedExecutor) -> None:
    """Spin until the executor or ROS is shut down.

    rclpy's own spin ends when another thread destroys a client, a subscription or a node while the executor is about to
    wait for it (InvalidHandle; RCLError for an action server); Kilted's also when one makes an action client, which
    enters its node before it has all its attributes. From then on nothing of the process would be called.
    """
    with contextlib.suppress(ExternalShutdownException):
        while True:
            try:
                executor.spin()
                return
            except (InvalidHandle, AttributeError, RuntimeError) as error:  # RCLError is a RuntimeError
                if not _is_of_one_entity(error):
                    raise
                for node in tuple(executor.get_nodes())[:1]:
                    node.get_logger().warning(f"went on after {error}", throttle_duration_sec=10.0)
                time.sleep(_PAUSE_S)


def _is_of_one_entity(error: Exception) -> bool:
    """Return whether a wait met what is half made or half destroyed, so that the next one may do without it."""
    if isinstance(error, AttributeError):
        return isinstance(error.obj, ActionClient)
    return isinstance(error, InvalidHandle) or "pointer is invalid" in str(error)
