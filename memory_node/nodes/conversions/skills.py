"""States, skill calls, their results and the steps of an episode."""

from __future__ import annotations

import math
from collections.abc import Iterable

from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill

from memory_node.domain.advice import Advice, AdviceSource
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import StepRecord
from memory_node.nodes.conversions.geometry import header, point_from_msg, point_to_msg, stamp_from_msg, stamp_to_msg

_HELD = {None: 0, True: 1, False: 2}


def states_to_msg(states: Iterable[StateBelief]) -> list[rm.StateBelief]:
    """Return state beliefs as messages."""
    return [
        rm.StateBelief(
            state=str(s.state), probability=s.probability, confirmed=stamp_to_msg(s.confirmed_ns), source=s.source
        )
        for s in states
    ]


def states_from_msg(msgs: Iterable[rm.StateBelief]) -> tuple[StateBelief, ...]:
    """Return messages as state beliefs.

    Raises:
        ValueError: a state that is not in ObjectState.
    """
    return tuple(StateBelief(ObjectState(m.state), m.probability, stamp_from_msg(m.confirmed), m.source) for m in msgs)


def states_named(field: str, names: Iterable[str]) -> tuple[ObjectState, ...]:
    """Return the states that a field of a request names.

    Raises:
        InvalidValueError: one of them is none.
    """
    known = {str(state): state for state in ObjectState}
    for name in names:
        if name not in known:
            raise InvalidValueError(f"{field}: expected each one of {', '.join(known)}, got {name!r}")
    return tuple(known[name] for name in names)


def change_to_msg(change: StateChange) -> rm.StateChange:
    """Return a StateChange message."""
    return rm.StateChange(
        stamp=stamp_to_msg(change.stamp_ns),
        object_id=change.object_id,
        object_class=change.object_class,
        added=[str(s) for s in change.added],
        removed=[str(s) for s in change.removed],
        held=_HELD[change.held],
        support=change.support_id,
        inside=change.inside,
        position_known=change.position is not None,
        position=point_to_msg(change.position or (0.0, 0.0, 0.0)),
        created_from=change.created_from,
        destroyed=change.destroyed,
        source=change.source,
        probability=change.probability,
    )


def change_from_msg(msg: rm.StateChange) -> StateChange:
    """Return a domain StateChange.

    Raises:
        InvalidValueError: an unknown state, `held` outside its constants, a probability outside 0 to 1, or a place that
            is not finite.
    """
    held = {code: value for value, code in _HELD.items()}
    if msg.held not in held:
        raise InvalidValueError(f"held: expected 0 (unchanged), 1 (picked) or 2 (placed), got {msg.held}")
    if not 0.0 <= msg.probability <= 1.0:
        raise InvalidValueError(f"probability: expected 0 to 1, got {msg.probability}")
    position = point_from_msg(msg.position) if msg.position_known else None
    if position is not None and not all(map(math.isfinite, position)):
        raise InvalidValueError(f"position: expected finite metres, got {position}")
    return StateChange(
        object_id=msg.object_id,
        object_class=msg.object_class,
        stamp_ns=stamp_from_msg(msg.stamp),
        added=states_named("added", msg.added),
        removed=states_named("removed", msg.removed),
        held=held[msg.held],
        support_id=msg.support,
        inside=msg.inside,
        position=position,
        created_from=msg.created_from,
        destroyed=msg.destroyed,
        source=msg.source or "user",
        probability=msg.probability,
    )


def call_to_msg(call: SkillCall) -> rm.SkillCall:
    """Return a SkillCall message."""
    return rm.SkillCall(skill=call.skill, arguments=list(call.arguments))


def call_from_msg(msg: rm.SkillCall) -> SkillCall:
    """Return a domain SkillCall.

    Raises:
        InvalidValueError: it names no skill.
    """
    return SkillCall(msg.skill, tuple(msg.arguments))


def advice_to_msg(advice: Advice) -> rm.Advice:
    """Return an Advice message."""
    return rm.Advice(source=str(advice.source), text=advice.text, before=[call_to_msg(call) for call in advice.before])


def advice_from_msg(msg: rm.Advice) -> Advice:
    """Return a domain Advice.

    Raises:
        ValueError: an unknown source, or a call that names no skill.
    """
    return Advice(AdviceSource(msg.source), msg.text, tuple(call_from_msg(call) for call in msg.before))


def skill_result_to_msg(result: SkillResult, held_object: str) -> ExecuteSkill.Result:
    """Return the result of an ExecuteSkill goal."""
    return ExecuteSkill.Result(
        success=result.success,
        reason=str(result.reason),
        message=result.message,
        object_id=result.object_id,
        duration=result.duration_s,
        distance=result.distance_m,
        explored_areas=result.explored_areas,
        held_object=held_object,
        changes=[change_to_msg(change) for change in result.changes],
    )


def skill_result_from_msg(call: SkillCall, msg: ExecuteSkill.Result) -> SkillResult:
    """Return a domain SkillResult; a reason outside the vocabulary counts as a failed execution."""
    known = msg.reason in set(FailureReason)
    reason = FailureReason(msg.reason) if known else FailureReason.EXECUTION
    if msg.success != (reason is FailureReason.NONE):
        reason = FailureReason.NONE if msg.success else FailureReason.EXECUTION
    return SkillResult(
        call=call,
        success=msg.success,
        reason=reason,
        message=msg.message,
        object_id=msg.object_id,
        duration_s=msg.duration,
        distance_m=msg.distance,
        explored_areas=msg.explored_areas,
        changes=tuple(change_from_msg(change) for change in msg.changes),
    )


def step_to_msg(step: StepRecord) -> rm.StepRecord:
    """Return a StepRecord message."""
    return rm.StepRecord(
        header=header(step.stamp_ns),
        episode_id=step.episode_id,
        index=step.index,
        action=call_to_msg(step.action),
        success=step.success,
        reason=str(step.reason),
        message=step.message,
        held_object=step.held_object,
        room=step.room,
        area=step.area,
        position=point_to_msg(step.position),
        visible=list(step.visible),
        relations=list(step.relations),
        duration=step.duration_s,
        distance=step.distance_m,
    )


def step_from_msg(msg: rm.StepRecord) -> StepRecord:
    """Return a domain StepRecord.

    Raises:
        ValueError: a reason outside the vocabulary, or no skill's name.
    """
    return StepRecord(
        episode_id=msg.episode_id,
        index=msg.index,
        action=call_from_msg(msg.action),
        success=msg.success,
        reason=FailureReason(msg.reason),
        stamp_ns=stamp_from_msg(msg.header.stamp),
        message=msg.message,
        held_object=msg.held_object,
        room=msg.room,
        area=msg.area,
        position=point_from_msg(msg.position),
        visible=tuple(msg.visible),
        relations=tuple(msg.relations),
        duration_s=msg.duration,
        distance_m=msg.distance,
    )
