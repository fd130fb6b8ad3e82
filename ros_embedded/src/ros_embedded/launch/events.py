"""What happens during a launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shutdown:
    """The launch is to end."""

    reason: str = "reason not given"


@dataclass(frozen=True)
class ProcessEvent:
    """Something about the process of an action."""

    action: Any
    process_name: str
    cmd: tuple[str, ...]
    pid: int


@dataclass(frozen=True)
class ProcessStarted(ProcessEvent):
    """It has been started."""


@dataclass(frozen=True)
class ProcessExited(ProcessEvent):
    """It has ended."""

    returncode: int
