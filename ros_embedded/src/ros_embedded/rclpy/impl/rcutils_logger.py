"""A named logger with rclpy's filters: throttle, skip_first, once."""

from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Any

from ros_embedded.rclpy.clock import Clock
from ros_embedded.rclpy.impl import logging_output
from ros_embedded.rclpy.impl.logging_output import LoggingSeverity

_FILTERS: dict[str, dict[str, Any]] = {  # the options of each filter and their defaults; None: required
    "throttle": {"throttle_duration_sec": None, "throttle_time_source_type": Clock()},
    "skip_first": {"skip_first": None},
    "once": {"once": None},
}
_OPTIONS = [option for options in _FILTERS.values() for option in options]


def _filters(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The filters that the arguments of a call switch on, with all their options. Raises TypeError."""
    asked = {name: options for name, options in _FILTERS.items() if any(given.get(option) for option in options)}
    for name, options in asked.items():
        for option, default in options.items():
            if option not in given and default is None:
                raise TypeError(
                    f'required parameter "{option}" not specified but is required for the the logging filter "{name}"'
                )
    for option in given:
        if option not in _OPTIONS:
            raise TypeError(f'parameter "{option}" is not one of the recognized logging options "{_OPTIONS}"')
    return {name: {option: given.get(option, options[option]) for option in options} for name, options in asked.items()}


class _CallSite:
    """The history of one line of code that logs."""

    def __init__(self, name: str, severity: LoggingSeverity, filters: dict[str, dict[str, Any]]) -> None:
        self.name, self.severity, self.filters = name, severity, filters
        clock = filters.get("throttle", _FILTERS["throttle"])["throttle_time_source_type"]
        if not isinstance(clock, Clock):
            raise ValueError(f'Received throttle_time_source_type of "{clock}" is not a clock instance')
        self._last_ns = 0
        self._calls = 0

    def check_unchanged(self, name: str, severity: LoggingSeverity, filters: dict[str, dict[str, Any]]) -> None:
        """Raise ValueError if the line logs with another logger, severity or filter than before."""
        for what, then, now in (
            ("Logger severity", self.severity, severity),
            ("Logger name", self.name, name),
            ("Requested logging filters", self.filters.keys(), filters.keys()),
            ("Logging filter parameters", self.filters, filters),
        ):
            if then != now:
                raise ValueError(f"{what} cannot be changed between calls.")

    def lets_through(self) -> bool:
        if "throttle" in self.filters:
            duration_s, clock = self.filters["throttle"].values()
            now_ns = clock.now().nanoseconds
            if now_ns < self._last_ns + duration_s * 1e9:
                return False
            self._last_ns = now_ns
        self._calls += 1
        wanted = self._calls - ("skip_first" in self.filters)
        return wanted > 0 and not ("once" in self.filters and wanted > 1)


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
        """Log messages of at least this severity; UNSET takes the parent's level."""
        logging_output.levels[self.name] = LoggingSeverity(level)

    def get_effective_level(self) -> LoggingSeverity:
        return logging_output.effective_level(self.name)

    def is_enabled_for(self, severity: LoggingSeverity | int) -> bool:
        return severity >= self.get_effective_level()

    def log(self, message: str, severity: LoggingSeverity | int, **kwargs: Any) -> bool:
        """Log `message` unless its level or a filter suppresses it; return whether it was logged.

        Filters: throttle_duration_sec, throttle_time_source_type, skip_first, once. Raises TypeError for an unknown
        one and for a message that is no text, ValueError if a line of code changes its logger, severity or filters.
        """
        severity = LoggingSeverity(severity)
        if not self.is_enabled_for(severity):
            return False
        name = kwargs.pop("name", self.name)
        frame = _caller()
        if not self._site(frame, name, severity, _filters(kwargs) if kwargs else {}).lets_through():
            return False
        if severity >= logging_output.effective_level(name):
            if not isinstance(message, str):
                raise TypeError(f"Expected a message of type str, got {type(message)}")
            code = frame.f_code
            origin = (code.co_filename, code.co_name, frame.f_lineno)
            logging_output.emit(logging_output.LogRecord(name, severity, message, time.time_ns(), *origin))
        return True

    def _site(
        self, frame: FrameType, name: str, severity: LoggingSeverity, filters: dict[str, dict[str, Any]]
    ) -> _CallSite:
        key = (frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)
        site = self._call_sites.get(key)
        if site is None:
            site = self._call_sites[key] = _CallSite(name, severity, filters)
        else:
            site.check_unchanged(name, severity, filters)
        return site

    def debug(self, message: str, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.DEBUG, **kwargs)

    def info(self, message: str, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.INFO, **kwargs)

    def warning(self, message: str, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.WARN, **kwargs)

    def warn(self, message: str, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.WARN, **kwargs)

    def error(self, message: str, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.ERROR, **kwargs)

    def fatal(self, message: str, **kwargs: Any) -> bool:
        return self.log(message, LoggingSeverity.FATAL, **kwargs)


def _caller() -> FrameType:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame
