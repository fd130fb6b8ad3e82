"""Where log messages go: the console, in rcutils' format, and /rosout."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from ros_embedded.rclpy.exceptions import RCLInvalidROSArgsError
from ros_embedded.rclpy.impl.arguments import RosArguments


class LoggingSeverity(IntEnum):
    """As in rcutils and rcl_interfaces/msg/Log."""

    UNSET = 0
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50


_DEFAULT_FORMAT = "[{severity}] [{time}] [{name}]: {message}"
_COLOURS = {LoggingSeverity.DEBUG: 32, LoggingSeverity.WARN: 33, LoggingSeverity.ERROR: 31, LoggingSeverity.FATAL: 31}


class LogRecord(NamedTuple):
    """One message and where it was logged."""

    name: str
    severity: LoggingSeverity
    message: str
    stamp_ns: int
    file: str
    function: str
    line: int


levels: dict[str, LoggingSeverity] = {}
rosout_writers: dict[str, Callable[[LogRecord], None]] = {}
_console = True
_rosout = True


def configure(arguments: RosArguments) -> None:
    """Apply a command line's --log-level and --disable-*-logs. Raises RCLInvalidROSArgsError."""
    global _console, _rosout
    _console, _rosout = arguments.stdout, arguments.rosout
    if arguments.log_level is not None:
        levels[""] = severity_from_string(arguments.log_level)
    for name, level in arguments.logger_levels.items():
        levels[name] = severity_from_string(level)


def severity_from_string(text: str) -> LoggingSeverity:
    """A level by its name. Raises RCLInvalidROSArgsError."""
    try:
        return LoggingSeverity[text.upper()]
    except KeyError as error:
        raise RCLInvalidROSArgsError(f"'{text}' is not a valid severity level") from error


def effective_level(name: str) -> LoggingSeverity:
    """The level set for the logger or, if none is, for the nearest of its parents."""
    while name:
        if levels.get(name, LoggingSeverity.UNSET) != LoggingSeverity.UNSET:
            return levels[name]
        name = name.rpartition(".")[0]
    return levels.get("", LoggingSeverity.INFO)


def emit(record: LogRecord) -> None:
    """Write a record to the console and, for a node's loggers, publish it."""
    if _console:
        stream = sys.stdout if os.environ.get("RCUTILS_LOGGING_USE_STDOUT") == "1" else sys.stderr
        print(_formatted(record, stream.isatty()), file=stream, flush=True)
    if _rosout:
        name = record.name
        while name and name not in rosout_writers:
            name = name.rpartition(".")[0]
        if name:
            rosout_writers[name](record)


def _formatted(record: LogRecord, is_terminal: bool) -> str:
    text = (
        (os.environ.get("RCUTILS_CONSOLE_OUTPUT_FORMAT") or _DEFAULT_FORMAT).replace("\\n", "\n").replace("\\t", "\t")
    )
    seconds, nanoseconds = divmod(record.stamp_ns, 10**9)
    tokens = {
        "severity": record.severity.name,
        "name": record.name,
        "time": f"{seconds}.{nanoseconds:09d}",
        "time_as_nanoseconds": str(record.stamp_ns),
        "date_time_with_ms": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
        + f".{nanoseconds // 10**6:03d}",
        "function_name": record.function,
        "file_name": record.file,
        "line_number": str(record.line),
        "message": record.message,  # replaced last, because a message may contain the text of a token
    }
    for token, value in tokens.items():
        text = text.replace(f"{{{token}}}", value)
    wanted = os.environ.get("RCUTILS_COLORIZED_OUTPUT")
    if wanted == "1" or (wanted != "0" and is_terminal):
        text = f"\033[{_COLOURS.get(record.severity, 0)}m{text}\033[0m"
    return text
