"""Counts what a node took and skipped, and publishes it as diagnostic_msgs/DiagnosticArray."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from memory_node.domain.errors import InputSkippedError


class InputCounters:
    """Thread-safe counts of used and skipped inputs by reason."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def used(self, what: str) -> None:
        """Count an input that was taken."""
        with self._lock:
            self._counts[f"used.{what}"] += 1

    def skipped(self, error: InputSkippedError) -> None:
        """Count an input that was skipped, under the error's reason."""
        with self._lock:
            self._counts[f"skipped.{error.reason}"] += 1

    def values(self) -> dict[str, int]:
        """Return a copy of the counts."""
        with self._lock:
            return dict(sorted(self._counts.items()))


class DiagnosticsPublisher:
    """Publishes the node's figures on /diagnostics once a second.

    Args:
        node: the node that reports.
        figures: returns name -> value.
        problems: returns what is wrong now, in words; the level is WARN while there is something.
    """

    def __init__(
        self, node: Node, figures: Callable[[], Mapping[str, object]], problems: Callable[[], list[str]]
    ) -> None:
        self._node = node
        self._figures = figures
        self._problems = problems
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._timer = node.create_timer(1.0, self.publish)

    def publish(self) -> None:
        """Publish the present figures."""
        problems = self._problems()
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if problems else DiagnosticStatus.OK,
            name=self._node.get_fully_qualified_name(),
            message="; ".join(problems) or "ok",
            hardware_id="robot_memory",
            values=[KeyValue(key=key, value=str(value)) for key, value in self._figures().items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
