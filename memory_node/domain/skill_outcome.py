"""How a robot's skill ends: the failure that it raises on the way, and the result that becomes of it."""

from __future__ import annotations

from collections.abc import Callable

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import check_call


class SkillFailure(Exception):  # noqa: N818 - a skill's failure is an outcome, not an error of the program
    """A skill ended without success; never leaves a robot's `execute`. object_id: of what hindered it."""

    def __init__(self, reason: FailureReason, message: str, object_id: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.object_id = object_id


def outcome_of(call: SkillCall, perform: Callable[[], str]) -> SkillResult:
    """Run one well-formed call to its end; never raises for a skill that fails.

    perform: does it, and returns the robot's id of the thing that it was about. The result tells no time, way or
    changes: each robot measures them itself.
    """
    try:
        check_call(call)
        return SkillResult(call, True, object_id=perform())
    except SkillFailure as failure:
        return SkillResult(call, False, failure.reason, str(failure), failure.object_id)
    except InvalidValueError as error:
        return SkillResult(call, False, FailureReason.INVALID_CALL, str(error))
