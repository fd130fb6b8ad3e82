"""A named logger with rclpy's filters: throttle, skip_first, once."""

from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Any

from ros_embedded.rclpy.clock import Clock
from ros_embedded.rclpy.impl import logging_output
from ros_embedded.rclpy.impl.logging_output import LoggingSeverity

_FILTERS = {"throttle_duration_sec", "throttle_time_source_type", "skip_first", "once"}


class _CallSite:
    """What a line of the program that logs with filters has been doing."""

    def __init__(self, severity: LoggingSeverity, options: dict[str, Any]) -> None:
        self.severity, self.options = severity, options
        if options.get("throttle_time_source_type") is not None and "throttle_duration_sec" not in options:
            raise TypeError(
                'Required parameter "throttle_duration_sec" was not specified for logging filter "throttle"'
            )
        self._clock = options.get("throttle_time_source_type") or Clock()
        if not isinstance(self._clock, Clock):
            raise ValueError(f'Received throttle_time_source_type of "{self._clock}" is not a clock instance')
        self._last_ns = 0
        self._calls = 0

    def lets_through(self) -> bool:
        throttle_s = self.options.get("throttle_duration_sec")
        if throttle_s:
            now_ns = self._clock.now().nanoseconds
            if now_ns < self._last_ns + throttle_s * 1e9:
                return False
            self._last_ns = now_ns
        self._calls += 1
        wanted = self._calls
        if self.options.get("skip_first"):
            wanted -= 1
        return wanted > 0 and not (self.options.get("once") and wanted > 1)


class RcutilsLogger:
    """Made by rclpy.logging.get_logger() or Node.get_logger()."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._call_sites: dict[tuple[str, int, int], _CallSite] = {}

    def get_child(self, name: str) -> RcutilsLogger:
        """A logger below this one. Raises ValueError for an empty name."""
        if not name:
            raise ValueError("Child logger name must not be empty.")
        return RcutilsLogger(f"{self.name}.{name}" if self.name else name)

    def set_level(self, level: LoggingSeverity | int) -> None:
        """Log what is at least this severe; UNSET leaves it to the parent."""
        logging_output.levels[self.name] = LoggingSeverity(level)

    def get_effective_level(self) -> LoggingSeverity:
        return logging_output.effective_level(self.name)

    def is_enabled_for(self, severity: LoggingSeverity | int) -> bool:
        return severity >= self.get_effective_level()

    def log(self, message: Any, severity: LoggingSeverity | int, **kwargs: Any) -> bool:
        """Log `message`, unless its level or a filter holds it back; say whether it was logged.

        Filters: throttle_duration_sec, throttle_time_source_type, skip_first, once. Raises TypeError for an unknown
        one, ValueError if a line of code changes its severity or filters.
        """
        severity = LoggingSeverity(severity)
        name = kwargs.pop("name", None) or self.name
        if kwargs.keys() - _FILTERS:
            raise TypeError(
                f"Provided parameters {sorted(kwargs.keys() - _FILTERS)} are not supported by any logging filter"
            )
        frame = _caller()
        if kwargs and not self._site(frame, severity, kwargs).lets_through():
            return False
        if severity < logging_output.effective_level(name):
            return False
        code = frame.f_code
        logging_output.emit(
            logging_output.LogRecord(
                name, severity, str(message), time.time_ns(), code.co_filename, code.co_name, frame.f_lineno
            )
        )
        return True

    def _site(self, frame: FrameType, severity: LoggingSeverity, options: dict[str, Any]) -> _CallSite:
        key = (frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)
        site = self._call_sites.get(key)
        if site is None:
            site = self._call_sites[key] = _CallSite(severity, options)
        elif site.severity != severity:
            raise ValueError("Logger severity cannot be changed between calls.")
        elif site.options != options:
            raise ValueError("Logging filter parameters cannot be changed between calls.")
        return site

    def debug(self, message: Any, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.DEBUG, **kwargs)

    def info(self, message: Any, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.INFO, **kwargs)

    def warning(self, message: Any, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.WARN, **kwargs)

    def warn(self, message: Any, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.WARN, **kwargs)

    def error(self, message: Any, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.ERROR, **kwargs)

    def fatal(self, message: Any, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.FATAL, **kwargs)


def _caller() -> FrameType:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame
