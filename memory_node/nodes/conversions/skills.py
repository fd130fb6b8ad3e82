"""States, skill calls, their results and the steps of an episode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill

from memory_node.domain.advice import Advice, AdviceSource
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import StepRecord
from memory_node.nodes.conversions.geometry import header, point_from_msg, point_to_msg, stamp_from_msg, stamp_to_msg
from memory_node.nodes.conversions.ranges import (
    SPAN_LIMIT,
    checked_count,
    checked_id,
    checked_items,
    checked_label,
    checked_labels,
    checked_number,
    checked_probability,
    checked_states,
    checked_text,
    shown,
)

_HELD = {None: 0, True: 1, False: 2}
_MOST_STATES = 100


def states_to_msg(states: Iterable[StateBelief]) -> list[rm.StateBelief]:
    """Return state beliefs as messages."""
    return [
        rm.StateBelief(
            state=str(s.state), probability=s.probability, confirmed=stamp_to_msg(s.confirmed_ns), source=s.source
        )
        for s in states
    ]


def states_from_msg(msgs: Sequence[rm.StateBelief]) -> tuple[StateBelief, ...]:
    """Return messages as state beliefs.

    Raises:
        InvalidValueError: a state that is not in ObjectState, or a probability or stamp that is none.
    """
    states = states_named("states", [m.state for m in msgs])
    return tuple(
        StateBelief(
            state,
            checked_probability("states.probability", m.probability),
            stamp_from_msg(m.confirmed),
            checked_label("states.source", m.source),
        )
        for state, m in zip(states, msgs)
    )


def states_named(field: str, names: Sequence[str]) -> tuple[ObjectState, ...]:
    """Return the states that a field of a request names.

    Raises:
        InvalidValueError: one of them is none.
    """
    known = {str(state): state for state in ObjectState}
    for name in checked_items(field, names, _MOST_STATES):
        if name not in known:
            raise InvalidValueError(f"{field}: expected each one of {', '.join(known)}, got {shown(name)}")
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
        InvalidValueError: a field is none that memory could work with (see `ranges`); it names the field.
    """
    held = {code: value for value, code in _HELD.items()}
    if msg.held not in held:
        raise InvalidValueError(f"held: expected 0 (unchanged), 1 (picked) or 2 (placed), got {msg.held}")
    added, removed = checked_states(states_named("added", msg.added), states_named("removed", msg.removed))
    return StateChange(
        object_id=checked_id("object_id", msg.object_id),
        object_class=checked_label("object_class", msg.object_class, required=not msg.object_id),
        stamp_ns=stamp_from_msg(msg.stamp),
        added=added,
        removed=removed,
        held=held[msg.held],
        support_id=_reference("support", msg.support),
        inside=msg.inside,
        position=point_from_msg(msg.position) if msg.position_known else None,
        created_from=_reference("created_from", msg.created_from),
        destroyed=msg.destroyed,
        source=checked_label("source", msg.source) or "user",
        probability=checked_probability("probability", msg.probability),
    )


def changes_from_msg(msgs: Sequence[rm.StateChange]) -> list[StateChange]:
    """Return domain StateChanges; an error names which one.

    Raises:
        InvalidValueError: there are too many, or one of them is none.
    """
    changes: list[StateChange] = []
    for number, msg in enumerate(checked_items("changes", msgs)):
        try:
            changes.append(change_from_msg(msg))
        except InvalidValueError as error:
            raise InvalidValueError(f"changes[{number}].{error}") from None
    return changes


def _reference(what: str, text: str) -> str:
    """Return an id, a class, or Class@x,y,z whose numbers are a place."""
    ObjectReference.parse(checked_id(what, text))
    return text


def call_to_msg(call: SkillCall) -> rm.SkillCall:
    """Return a SkillCall message."""
    return rm.SkillCall(skill=call.skill, arguments=list(call.arguments))


def call_from_msg(msg: rm.SkillCall) -> SkillCall:
    """Return a domain SkillCall.

    Raises:
        InvalidValueError: it names no skill, or an argument is none: too long, or at no place.
    """
    arguments = checked_items("arguments", msg.arguments)
    return SkillCall(checked_label("skill", msg.skill), tuple(_reference("arguments", text) for text in arguments))


def advice_to_msg(advice: Advice) -> rm.Advice:
    """Return an Advice message."""
    before = [call_to_msg(call) for call in advice.before]
    return rm.Advice(source=str(advice.source), text=advice.text, before=before, again=advice.again)


def advice_from_msg(msg: rm.Advice) -> Advice:
    """Return a domain Advice.

    Raises:
        ValueError: an unknown source, or a call that names no skill.
    """
    return Advice(AdviceSource(msg.source), msg.text, tuple(call_from_msg(call) for call in msg.before), msg.again)


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
    """Return a domain SkillResult; a reason outside the vocabulary counts as a failed execution.

    Raises:
        InvalidValueError: a field is none that memory could work with.
    """
    known = msg.reason in set(FailureReason)
    reason = FailureReason(msg.reason) if known else FailureReason.EXECUTION
    if msg.success != (reason is FailureReason.NONE):
        reason = FailureReason.NONE if msg.success else FailureReason.EXECUTION
    return SkillResult(
        call=call,
        success=msg.success,
        reason=reason,
        message=checked_text("message", msg.message),
        object_id=checked_id("object_id", msg.object_id),
        duration_s=checked_number("duration", msg.duration, 0.0, SPAN_LIMIT),
        distance_m=checked_number("distance", msg.distance, 0.0, SPAN_LIMIT),
        explored_areas=msg.explored_areas,
        changes=tuple(changes_from_msg(msg.changes)),
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
        InvalidValueError: a field is none that memory could work with; it names the field.
    """
    reasons = {str(reason): reason for reason in FailureReason}
    if msg.reason not in reasons:
        raise InvalidValueError(f"reason: expected one of {', '.join(reasons)}, got {shown(msg.reason)}")
    return StepRecord(
        episode_id=checked_id("episode_id", msg.episode_id),
        index=checked_count("index", msg.index),
        action=call_from_msg(msg.action),
        success=msg.success,
        reason=reasons[msg.reason],
        stamp_ns=stamp_from_msg(msg.header.stamp),
        message=checked_text("message", msg.message),
        held_object=checked_label("held_object", msg.held_object),
        room=checked_label("room", msg.room),
        area=checked_label("area", msg.area),
        position=point_from_msg(msg.position),
        visible=checked_labels("visible", msg.visible),
        relations=checked_labels("relations", msg.relations),
        duration_s=checked_number("duration", msg.duration, 0.0, SPAN_LIMIT),
        distance_m=checked_number("distance", msg.distance, 0.0, SPAN_LIMIT),
    )
