"""One skill in a text world, from its commands to its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.sim.execution import SkillFailure


class TextBody(Protocol):
    """What carries out skills by reading. searched: places gone to, to search."""

    @property
    def searched(self) -> int:
        """Its count so far."""


class ReadChanges(Protocol):
    """What was read. changes: what memory is to be told of it."""

    changes: list[StateChange]


def result_of(call: SkillCall, carry_out: Callable[[], str], body: TextBody, senses: ReadChanges) -> SkillResult:
    """Run one skill to its end; never raises for a skill that fails. carry_out: returns what the skill was about."""
    senses.changes = []
    searched = body.searched
    reason, message, object_id = FailureReason.NONE, "", ""
    try:
        object_id = carry_out()
    except SkillFailure as failure:
        reason, message, object_id = failure.reason, str(failure), failure.object_id
    except InvalidValueError as error:
        reason, message = FailureReason.INVALID_CALL, str(error)
    return SkillResult(
        call,
        reason is FailureReason.NONE,
        reason,
        message,
        object_id,
        explored_areas=body.searched - searched,
        changes=tuple(senses.changes),
    )
