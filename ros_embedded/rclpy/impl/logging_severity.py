"""Levels of log messages."""

from enum import IntEnum


class LoggingSeverity(IntEnum):
    """As in rcutils and rcl_interfaces/msg/Log."""

    UNSET = 0
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50
