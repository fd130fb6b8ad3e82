"""Loggers and their levels."""

from __future__ import annotations

from ros_embedded.rclpy.impl import logging_output
from ros_embedded.rclpy.impl.logging_output import LoggingSeverity
from ros_embedded.rclpy.impl.rcutils_logger import RcutilsLogger

_root_logger = RcutilsLogger()


def get_logger(name: str) -> RcutilsLogger:
    """The logger `name`. Raises ValueError for an empty name."""
    if not name:
        raise ValueError("Logger name must not be empty.")
    return _root_logger.get_child(name)


def initialize() -> None:
    """Kept for compatibility: loggers are ready from the start."""


def shutdown() -> None:
    """Kept for compatibility: nothing is held open."""


def set_logger_level(name: str, level: LoggingSeverity | int, detailed_error: bool = False) -> None:
    """Set a logger's level."""
    logging_output.levels[name] = LoggingSeverity(level)


def get_logger_effective_level(name: str) -> LoggingSeverity:
    """The level in force for a logger."""
    return logging_output.effective_level(name)


def get_logger_level(name: str) -> LoggingSeverity:
    """The level set for a logger itself."""
    return logging_output.levels.get(name, LoggingSeverity.UNSET)
