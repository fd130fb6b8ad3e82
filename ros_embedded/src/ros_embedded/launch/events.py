"""Events of a launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shutdown:
    """The launch shall end."""

    reason: str = "reason not given"


@dataclass(frozen=True)
class ProcessEvent:
    """The base of events about an action's process."""

    action: Any
    process_name: str
    cmd: tuple[str, ...]
    pid: int


@dataclass(frozen=True)
class ProcessStarted(ProcessEvent):
    """The process has started."""


@dataclass(frozen=True)
class ProcessExited(ProcessEvent):
    """The process has ended."""

    returncode: int
