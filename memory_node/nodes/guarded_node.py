"""A node that goes on when one of its callbacks fails."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from memory_node.domain.process import Faults
from memory_node.nodes.diagnostics import Diagnosis, DiagnosticsPublisher, threads_diagnosis
from memory_node.nodes.health_parameters import DiagnosticUpdaterParameters
from memory_node.nodes.running_goals import LEASE_S, RunningGoals


class GuardedNode(Node):
    """Guards the callback of every subscription, timer and service that is made with it, by whoever makes it.

    An exception in a callback is logged once for each place in the code, counted, and reported on /diagnostics; later
    calls run. Unguarded, it would end the executor, and with it every node of the process. A service answers with the
    response as it was when the callback failed. Every value that the node was given becomes a parameter, and where ROS
    has it (from Jazzy on) ~/set_logger_levels changes what it logs while it runs. Subclasses put into `at_end` what is
    to be closed before the node is destroyed, the last first.
    """

    def __init__(self, name: str) -> None:
        # First of all: from Kilted on, ROS's shutdown destroys also a node whose constructor has failed.
        self.at_end = contextlib.ExitStack()
        self._running: RunningGoals | None = None
        has_levels = "enable_logger_service" in inspect.signature(Node.__init__).parameters
        levels = {"enable_logger_service": True} if has_levels else {}
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **levels)

    def now_ns(self) -> int:
        """Return the time of the node's clock (ns)."""
        return int(self.get_clock().now().nanoseconds)

    def destroy_node(self) -> None:
        """Close what `at_end` holds, then go."""
        self.at_end.close()
        super().destroy_node()

    def announce_goals(self, silence_s: float = LEASE_S) -> RunningGoals:
        """Announce what this node has running, and learn what others have; silence_s: see RunningGoals."""
        self._running = RunningGoals(self, silence_s)
        self.at_end.callback(self._running.close)
        return self._running

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs here that others wait for."""
        return self._running is None or self._running.is_idle

    def end(self) -> None:
        """Stop what runs here, and tell who waits; does not wait for it."""
        if self._running is not None:
            self._running.end()

    def create_subscription(self, msg_type: Any, topic: str, callback: Any, *args: Any, **kwargs: Any) -> Any:
        """Create a subscription; see rclpy."""
        return super().create_subscription(msg_type, topic, self._guarded(topic, callback), *args, **kwargs)

    def create_timer(self, timer_period_sec: float, callback: Any, *args: Any, **kwargs: Any) -> Any:
        """Create a timer; see rclpy."""
        name = f"timer {getattr(callback, '__name__', '')}"
        return super().create_timer(timer_period_sec, self._guarded(name, callback), *args, **kwargs)

    def create_service(self, srv_type: Any, srv_name: str, callback: Any, *args: Any, **kwargs: Any) -> Any:
        """Create a service; see rclpy."""
        guarded = self._guarded(srv_name, callback, answer=lambda request, response: response)
        return super().create_service(srv_type, srv_name, guarded, *args, **kwargs)

    def callbacks_diagnosis(self) -> Diagnosis:
        """Return which callbacks have failed, and how often."""
        counts = self._faults.counts()
        failures = sum(counts.values())
        problem = f"callbacks failed {failures} times by internal errors, which the log tells"
        return Diagnosis({f"failed.{name}": count for name, count in counts.items()}, (problem,) if failures else ())

    def publish_diagnostics(
        self, config: DiagnosticUpdaterParameters, components: Mapping[str, Callable[[], Diagnosis]]
    ) -> None:
        """Report on /diagnostics, from now on, the given components and what every node has: callbacks and threads."""
        everything = {**components, "callbacks": self.callbacks_diagnosis, "threads": threads_diagnosis}
        self._diagnostics = DiagnosticsPublisher(self, config, everything)

    # rclpy makes services while the node is still being made.
    @functools.cached_property
    def _faults(self) -> Faults:
        return Faults(lambda text: self.get_logger().error(text))

    def _guarded(
        self, name: str, callback: Callable[..., Any] | None, answer: Callable[..., Any] = lambda *_: None
    ) -> Callable[..., Any] | None:
        if callback is None:
            return None

        @functools.wraps(callback)  # rclpy looks at how many arguments it takes
        def call(*args: Any) -> Any:
            try:
                return callback(*args)
            except InvalidHandle:  # destroyed while it was running: who spins knows
                raise
            except Exception as error:
                if not self.context.ok():
                    raise
                self._faults.note(name, error)
                return answer(*args)

        return call
