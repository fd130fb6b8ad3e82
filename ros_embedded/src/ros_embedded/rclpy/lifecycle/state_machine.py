"""The states of a managed node and the transitions between them (design.ros2.org/articles/node_lifecycle.html)."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.logging import get_logger

STATES = {
    0: "unknown", 1: "unconfigured", 2: "inactive", 3: "active", 4: "finalized", 10: "configuring", 11: "cleaningup",
    12: "shuttingdown", 13: "activating", 14: "deactivating", 15: "errorprocessing",
}  # fmt: skip
_ERROR_PROCESSING = 15
_logger = get_logger("rcl_lifecycle")


class TransitionCallbackReturnType(Enum):
    """The result of a transition's callback."""

    SUCCESS = 97
    FAILURE = 98
    ERROR = 99

    def to_label(self) -> str:
        return f"transition_{self.name.lower()}"


TransitionCallbackReturn = TransitionCallbackReturnType  # rclpy offers this name; its repr shows the other


class Transition(NamedTuple):
    """From one state to another."""

    id: int
    label: str
    start: int
    goal: int


def _through(
    number: int, label: str, start: int, state: int, success: int, failure: int, first: int
) -> list[Transition]:
    return [
        Transition(number, label, start, state),
        Transition(first, "transition_success", state, success),
        Transition(first + 1, "transition_failure", state, failure),
        Transition(first + 2, "transition_error", state, _ERROR_PROCESSING),
    ]


_shutdown = _through(5, "shutdown", 1, 12, 4, 4, 50)
TRANSITIONS = [
    *_through(1, "configure", 1, 10, 2, 1, 10),
    *_through(2, "cleanup", 2, 11, 1, 2, 20),
    *_through(3, "activate", 2, 13, 3, 2, 30),
    *_through(4, "deactivate", 3, 14, 2, 3, 40),
    _shutdown[0],
    Transition(6, "shutdown", 2, 12),
    Transition(7, "shutdown", 3, 12),
    *_shutdown[1:],
    Transition(60, "transition_success", _ERROR_PROCESSING, 1),
    Transition(61, "transition_failure", _ERROR_PROCESSING, 4),
    Transition(62, "transition_error", _ERROR_PROCESSING, 4),
]


class StateMachine:
    """The current state of a managed node."""

    def __init__(self) -> None:
        self.state = 1

    @property
    def current_state(self) -> tuple[int, str]:
        return self.state, STATES[self.state]

    def available(self) -> list[Transition]:
        return [transition for transition in TRANSITIONS if transition.start == self.state]

    def trigger(self, transition: int | str) -> Transition:
        """Make a transition, by its number or label. Raises RCLError if it cannot be made now."""
        for candidate in self.available():
            if transition in (candidate.id, candidate.label):
                self.state = candidate.goal
                return candidate
        _logger.warning(f"No transition matching {transition} found for current state {STATES[self.state]}")
        raise RCLError("Failed to trigger lifecycle state machine transition: Transition is not registered.")
