"""Counts what a node took and skipped, and tells /diagnostics; keeps a thread going when one of its inputs fails."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.process import Faults, worker_threads
from memory_node.nodes.health_parameters import DiagnosticUpdaterParameters

_HARDWARE_ID = "robot_memory"


class InputCounters:
    """Thread-safe counts of inputs: used, skipped because of a fault, dropped on purpose, each by reason.

    last_skip: why the last input was skipped that was: the reason and its detail; empty when none was.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self.last_skip = ""

    def used(self, what: str) -> None:
        """Count an input that was taken."""
        self._count(f"used.{what}")

    def skipped(self, error: InputSkippedError) -> None:
        """Count an input that was skipped, under the error's reason."""
        self._count(f"skipped.{error.reason}")
        self.last_skip = str(error)

    def dropped(self, reason: str) -> None:
        """Count an input that was not needed."""
        self._count(f"dropped.{reason}")

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1

    def of(self, reason: str) -> int:
        """Return how many inputs were skipped for a reason."""
        with self._lock:
            return self._counts[f"skipped.{reason}"]

    def values(self) -> dict[str, int]:
        """Return a copy of the counts."""
        with self._lock:
            return dict(sorted(self._counts.items()))


@dataclass(frozen=True)
class Diagnosis:
    """A component's report: figures by name, and in words what is wrong now; empty when all is well. problems: it
    works, but something is wrong (WARN). failures: it does not do its task (ERROR). stale: its data should have changed
    and has not (STALE).
    """

    figures: Mapping[str, object]
    problems: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def level(self) -> Any:
        """The worst level of what is wrong, as a DiagnosticStatus has it."""
        if self.failures:
            return DiagnosticStatus.ERROR
        if self.stale:
            return DiagnosticStatus.STALE
        return DiagnosticStatus.WARN if self.problems else DiagnosticStatus.OK

    @property
    def message(self) -> str:
        """What is wrong, the worst first; "ok"."""
        return "; ".join((*self.failures, *self.stale, *self.problems)) or "ok"


def threads_diagnosis() -> Diagnosis:
    """Return how the process's worker threads are."""
    threads = worker_threads()
    failed = [f"the thread {one.name} failed {one.failures} times, as the log tells" for one in threads if one.failures]
    lost = [f"the thread {one.name} has ended" for one in threads if one.is_lost]
    return Diagnosis({f"failures.{one.name}": one.failures for one in threads}, tuple(failed), tuple(lost))


class DiagnosticsPublisher:
    """Publishes a status of each component on /diagnostics, at the start and then once a period.

    It keeps to the conventions of the package diagnostic_updater, so that diagnostic_aggregator and rqt sort the
    statuses: named `NODE: component`, one array for all, not OK while something is wrong. A component that fails to
    answer is an ERROR, and the others are told all the same.

    Args:
        node: the node that reports.
        config: period and names.
        components: asked for their diagnosis, by name.
    """

    def __init__(
        self, node: Node, config: DiagnosticUpdaterParameters, components: Mapping[str, Callable[[], Diagnosis]]
    ) -> None:
        self._node = node
        self._name = node.get_fully_qualified_name() if config.use_fqn else node.get_name()
        self._components = components
        self._last: dict[str, str] = {}
        self._logged: dict[str, str] = {}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._config = config
        self._timer = node.create_timer(config.period, self.publish)
        self.publish()

    def publish(self) -> None:
        """Publish the present state."""
        self._timer.timer_period_ns = round(self._config.period * 1e9)  # it may have changed
        message = DiagnosticArray(status=[self._status(name, told) for name, told in self._components.items()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _status(self, component: str, diagnose: Callable[[], Diagnosis]) -> DiagnosticStatus:
        status = DiagnosticStatus(name=f"{self._name}: {component}", hardware_id=_HARDWARE_ID)
        try:
            diagnosis = diagnose()
        except Exception as error:
            status.level, status.message = DiagnosticStatus.ERROR, f"{type(error).__name__}: {error}"
            return status
        status.level, status.message = diagnosis.level, diagnosis.message
        self._log(component, diagnosis)
        status.values = [KeyValue(key=key, value=str(value)) for key, value in diagnosis.figures.items()]
        return status

    def _log(self, component: str, diagnosis: Diagnosis) -> None:
        """Log what is wrong when it has lasted for a period, and when it ends: not everybody looks at /diagnostics."""
        kind = re.sub(r"[\d.]+", "", diagnosis.message)  # without the figures, which change all the time
        before, self._last[component] = self._last.get(component), kind
        if kind != before or kind == self._logged.get(component, "ok"):
            return
        self._logged[component] = kind
        if diagnosis.level == DiagnosticStatus.OK:
            self._node.get_logger().info(f"{component}: ok again")
        else:
            self._node.get_logger().warning(f"{component}: {diagnosis.message}")


INTERNAL_ERROR = "internal_error"  # the reason under which unexpected errors are counted
_THROTTLE_S = 5.0


class StageGuard:
    """Counts what an input raises, by reason, and lets the next input come.

    A skipped input is a warning, at most one every few seconds. An unexpected error is counted as INTERNAL_ERROR and
    logged with its traceback, once for each place in the code.

    Args:
        counters: of used and skipped inputs.
        logger: the node's.
    """

    def __init__(self, counters: InputCounters, logger: Any) -> None:
        self._counters = counters
        self._logger = logger
        self._faults = Faults(logger.error)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Run the body; what it raises ends it and is counted. name: what the log calls it."""
        try:
            yield
        except InputSkippedError as error:
            self.skip(error)
        except InvalidValueError as error:
            self.skip(InputSkippedError("invalid_value", str(error)))
        except Exception as error:
            self._counters.skipped(InputSkippedError(INTERNAL_ERROR, str(error)))
            self._faults.note(name, error)

    def guarded(self, name: str, callback: Callable[[Any], object]) -> Callable[[Any], None]:
        """Return a callback of one message that cannot take its executor down."""

        def call(msg: Any) -> None:
            with self.stage(name):
                callback(msg)

        return call

    def skip(self, error: InputSkippedError) -> None:
        """Count an input that cannot be used."""
        self._counters.skipped(error)
        self._logger.warning(f"skipped an input: {error}", throttle_duration_sec=_THROTTLE_S)
