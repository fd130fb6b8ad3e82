"""Keeps a thread going when one of its inputs fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.process import Faults
from memory_node.nodes.diagnostics import InputCounters

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
