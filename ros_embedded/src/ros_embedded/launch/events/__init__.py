"""The events of a launch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ProcessExited:
    """The event that the process of an action has ended."""

    action: Any
    returncode: int


@dataclass(frozen=True, kw_only=True)
class ShutdownProcess:
    """The event that processes which have ended are not to start again; here it leaves those that run alone."""

    process_matcher: Callable[[Any], bool]


def matches_action(target_action: Any) -> Callable[[Any], bool]:
    """Return what tells an action from all others."""
    return lambda action: action is target_action
