"""States, skill calls, their results and the steps of an episode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from geometry_msgs.msg import Pose as PoseMsg
from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import (
    FailureReason,
    ObjectReference,
    PoseKind,
    SkillCall,
    SkillResult,
    StateChange,
    TriedPose,
)
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import DemonstratedStep, StepRecord
from memory_node.nodes.conversions.geometry import (
    header,
    point_from_msg,
    point_to_msg,
    pose_from_msg,
    pose_from_numbers,
    pose_to_msg,
)
from memory_node.nodes.conversions.paired import Paired, Part, member, several, stamp
from memory_node.nodes.conversions.ranges import (
    SPAN_LIMIT,
    checked_count,
    checked_id,
    checked_items,
    checked_label,
    checked_labels,
    checked_member,
    checked_number,
    checked_probability,
    checked_states,
    checked_text,
)

_HELD = {None: 0, True: 1, False: 2}
_OF_HELD = {code: held for held, code in _HELD.items()}
_MOST_STATES = 100
_MOST_TRIED = 100


def states_named(field: str, names: Sequence[str]) -> tuple[ObjectState, ...]:
    """Return the states that a field of a request names.

    Raises:
        InvalidValueError: one of them is none.
    """
    return tuple(checked_member(ObjectState, field, name) for name in checked_items(field, names, _MOST_STATES))


def names_of(states: Iterable[ObjectState]) -> list[str]:
    """Return the names of states."""
    return [str(state) for state in states]


_BELIEF = Paired(
    StateBelief,
    rm.StateBelief,
    state=Part("", str, lambda what, value: checked_member(ObjectState, f"{what}s", value)),
    probability=Part("", from_msg=lambda what, value: checked_probability(f"states.{what}", value)),
    confirmed_ns=stamp("confirmed"),
    source=Part("", from_msg=lambda what, value: checked_label(f"states.{what}", value)),
)


STATES = several(_BELIEF.to_msg, _BELIEF.from_msg, _MOST_STATES)


def _held(what: str, code: int) -> bool | None:
    if code not in _OF_HELD:
        raise InvalidValueError(f"{what}: expected 0 (unchanged), 1 (picked) or 2 (placed), got {code}")
    return _OF_HELD[code]


def _reference(what: str, text: str) -> str:
    """Return an id, a class, or Class@x,y,z whose numbers are a place."""
    ObjectReference.parse(checked_id(what, text))
    return text


_CHANGE = Paired(
    StateChange,
    rm.StateChange,
    stamp_ns=stamp("stamp"),
    object_id=Part("", from_msg=checked_id),
    added=Part("", names_of),
    removed=Part("", names_of),
    held=Part("", _HELD.__getitem__, _held),
    support_id=Part("support", from_msg=_reference),
    created_from=Part("", from_msg=_reference),
    source=Part("", from_msg=lambda what, value: checked_label(what, value) or "user"),
    probability=Part("", from_msg=checked_probability),
)


def change_to_msg(change: StateChange) -> rm.StateChange:
    """Return a StateChange message."""
    position = point_to_msg(change.position or (0.0, 0.0, 0.0))
    return _CHANGE.to_msg(change, position=position, position_known=change.position is not None)


def change_from_msg(msg: rm.StateChange) -> StateChange:
    """Return a domain StateChange.

    Raises:
        InvalidValueError: a field is none that memory could work with (see `ranges`); it names the field.
    """
    added, removed = checked_states(states_named("added", msg.added), states_named("removed", msg.removed))
    object_class = checked_label("object_class", msg.object_class, required=not msg.object_id)
    position = point_from_msg(msg.position) if msg.position_known else None
    return _CHANGE.from_msg(msg, added=added, removed=removed, object_class=object_class, position=position)


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


def _references(what: str, texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(_reference(what, text) for text in checked_items(what, texts))


_CALL = Paired(SkillCall, rm.SkillCall, skill=Part("", from_msg=checked_label), arguments=Part("", list, _references))
call_to_msg, call_from_msg = _CALL.to_msg, _CALL.from_msg


def _pose_numbers(what: str, msg: PoseMsg) -> tuple[float, ...]:
    pose = pose_from_msg(msg, what)
    return tuple(map(float, (*pose.position, *pose.quaternion)))


_TRIED = Paired(
    TriedPose,
    rm.TriedPose,
    kind=member(PoseKind),
    object_id=Part("", from_msg=checked_id),
    object_class=Part("", from_msg=checked_label),
    numbers=Part("pose", lambda numbers: pose_to_msg(pose_from_numbers(numbers)), _pose_numbers),
)
TRIED = several(_TRIED.to_msg, _TRIED.from_msg, _MOST_TRIED)
_SPAN = Part("", from_msg=lambda what, value: checked_number(what, value, 0.0, SPAN_LIMIT))
_LABEL, _LABELS = Part("", from_msg=checked_label), Part("", list, checked_labels)
_CHANGES = Part(
    "", lambda changes: list(map(change_to_msg, changes)), lambda what, value: tuple(changes_from_msg(value))
)
_RESULT = Paired(
    SkillResult,
    ExecuteSkill.Result,
    reason=Part("", str),
    message=Part("", from_msg=checked_text),
    object_id=Part("", from_msg=checked_id),
    duration_s=_SPAN._replace(name="duration"),
    distance_m=_SPAN._replace(name="distance"),
    changes=_CHANGES,
    tried=TRIED,
)


def skill_result_to_msg(result: SkillResult, held_object: str) -> ExecuteSkill.Result:
    """Return the result of an ExecuteSkill goal."""
    return _RESULT.to_msg(result, held_object=held_object)


def skill_result_from_msg(call: SkillCall, msg: ExecuteSkill.Result) -> SkillResult:
    """Return a domain SkillResult; a reason outside the vocabulary counts as a failed execution.

    Raises:
        InvalidValueError: a field is none that memory could work with.
    """
    known = msg.reason in set(FailureReason)
    reason = FailureReason(msg.reason) if known else FailureReason.EXECUTION
    if msg.success != (reason is FailureReason.NONE):
        reason = FailureReason.NONE if msg.success else FailureReason.EXECUTION
    return _RESULT.from_msg(msg, call=call, reason=reason)


_STEP = Paired(
    StepRecord,
    rm.StepRecord,
    stamp_ns=stamp("header.stamp"),
    episode_id=Part("", from_msg=checked_id),
    index=Part("", from_msg=checked_count),
    action=Part("", call_to_msg, lambda what, value: call_from_msg(value)),
    reason=member(FailureReason),
    message=Part("", from_msg=checked_text),
    held_object=_LABEL,
    room=_LABEL,
    area=_LABEL,
    position=Part("", point_to_msg, lambda what, value: point_from_msg(value, what)),
    visible=_LABELS,
    relations=_LABELS,
    duration_s=_SPAN._replace(name="duration"),
    distance_m=_SPAN._replace(name="distance"),
    tried=TRIED,
    reasoning=Part("", from_msg=checked_text),
)


def step_to_msg(step: StepRecord) -> rm.StepRecord:
    """Return a StepRecord message."""
    return _STEP.to_msg(step, header=header(step.stamp_ns))


step_from_msg = _STEP.from_msg

_DEMONSTRATED = Paired(
    DemonstratedStep,
    rm.DemonstratedStep,
    instruction=Part("", from_msg=checked_text),
    step=Part("", step_to_msg, lambda what, value: step_from_msg(value)),
    changes=_CHANGES,
)
demonstrated_to_msg, demonstrated_from_msg = _DEMONSTRATED.to_msg, _DEMONSTRATED.from_msg
