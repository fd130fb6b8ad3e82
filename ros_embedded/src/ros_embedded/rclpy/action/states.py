"""The states of a goal and the events between them (design.ros2.org/articles/actions.html)."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ros_embedded.rclpy.exceptions import RCLError

UNKNOWN, ACCEPTED, EXECUTING, CANCELING, SUCCEEDED, CANCELED, ABORTED = range(7)
GOAL_STATUSES = ("UNKNOWN", "ACCEPTED", "EXECUTING", "CANCELING", "SUCCEEDED", "CANCELED", "ABORTED")
ACTIVE = (ACCEPTED, EXECUTING, CANCELING)
_ERROR_NONE, _ERROR_UNKNOWN_GOAL_ID, _ERROR_GOAL_TERMINATED = 0, 2, 3


class GoalEvent(Enum):
    """Events that change a goal's state."""

    ACCEPT = 0
    EXECUTE = 1
    CANCEL_GOAL = 2
    SUCCEED = 3
    ABORT = 4
    CANCELED = 5


_TRANSITIONS = {
    (UNKNOWN, GoalEvent.ACCEPT): ACCEPTED,
    (ACCEPTED, GoalEvent.EXECUTE): EXECUTING,
    (ACCEPTED, GoalEvent.CANCEL_GOAL): CANCELING,
    (EXECUTING, GoalEvent.CANCEL_GOAL): CANCELING,
    (EXECUTING, GoalEvent.SUCCEED): SUCCEEDED,
    (EXECUTING, GoalEvent.ABORT): ABORTED,
    (CANCELING, GoalEvent.SUCCEED): SUCCEEDED,
    (CANCELING, GoalEvent.ABORT): ABORTED,
    (CANCELING, GoalEvent.CANCELED): CANCELED,
}


def next_status(status: int, event: GoalEvent) -> int:
    """The status after an event. Raises RCLError if it cannot happen in this status."""
    if (status, event) not in _TRANSITIONS:
        state = GOAL_STATUSES[status]
        raise RCLError(
            "Failed to update goal state: goal_handle attempted invalid transition "
            f"from state {state} with event {event.name}"
        )
    return _TRANSITIONS[status, event]


def _stamp_ns(stamp: Any) -> int:
    return stamp.sec * 10**9 + stamp.nanosec


def goals_to_cancel(asked: Any, goals: dict[bytes, tuple[Any, int]]) -> tuple[int, list[bytes]]:
    """The goals that a cancel request's GoalInfo selects of `goals` (GoalInfo and status by id), and its return code.

    An empty id selects all goals up to the stamp, or all goals if the stamp is zero; an id with a stamp selects that
    goal and all up to the stamp.
    """
    key, until_ns = bytes(asked.goal_id.uuid), _stamp_ns(asked.stamp)
    has_id = any(key)
    if has_id and not until_ns:
        if key not in goals:
            return _ERROR_UNKNOWN_GOAL_ID, []
        if goals[key][1] not in (ACCEPTED, EXECUTING):
            return _ERROR_GOAL_TERMINATED, []

    def is_meant(candidate: bytes, info: Any) -> bool:
        if has_id and candidate == key:
            return True
        return (until_ns > 0 and _stamp_ns(info.stamp) <= until_ns) or (not has_id and not until_ns)

    meant = [
        candidate
        for candidate, (info, status) in goals.items()
        if is_meant(candidate, info) and status in (ACCEPTED, EXECUTING)
    ]
    return _ERROR_NONE, meant
