"""What the result of a skill tells of the world: effects of a success, corrections by a failure."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Thing
from memory_node.planner.goal_attempt import GoalAttempt
from memory_node.planner.search import apply_effects

_S = ObjectState
# The state that a thing already has when these skills fail with PRECONDITION.
_IS_SO_ALREADY = {
    "SwitchOn": _S.ON,
    "ToggleOn": _S.ON,
    "SwitchOff": _S.OFF,
    "ToggleOff": _S.OFF,
    "EmptyObject": _S.USED_UP,
}
_ELSEWHERE = frozenset(
    {
        FailureReason.NOT_FOUND,
        FailureReason.NOT_VISIBLE,
        FailureReason.UNREACHABLE,
        FailureReason.OCCUPIED,
        FailureReason.WRONG_OBJECT,
        FailureReason.PRECONDITION,
        FailureReason.INVALID_CALL,
    }
)


class Outcomes:
    """Takes results over into what is believed in the attempt of one goal."""

    def __init__(self, kinds: ObjectCatalogue, attempt: GoalAttempt) -> None:
        self._kinds = kinds
        self._attempt = attempt
        self._belief = attempt.belief

    def succeeded(self, call: SkillCall, result: SkillResult, subject: Thing | None) -> None:
        """Apply the declared effects, which hold whether or not the robot reports changes."""
        if subject is None:
            return
        skill = SKILLS[call.skill]
        things = [self._belief.named(argument) for argument in call.arguments]
        binding = {argument.name: thing.name for argument, thing in zip(skill.arguments, things) if thing is not None}
        if call.skill == "SliceObject":
            self._cut(subject, result.object_id)
            return
        self._belief.state = apply_effects(skill, binding, self._belief.state)
        if call.skill in ("PickupObject", "GoToObject"):
            self._belief.identify(subject.name, result.object_id)

    def _cut(self, whole: Thing, first_piece: str) -> None:
        """Replace a whole by its pieces, which lie where it was."""
        container = self._belief.state.container_of(whole.name)
        pieces = self._kinds[whole.object_class].slices
        piece = Thing(whole.name, pieces, first_piece or whole.reference, first_piece)
        at = self._belief.state.at
        self._belief.forget(whole.name)
        self._belief.add(piece, container)
        self._belief.state = replace(self._belief.state.with_state(whole.name, _S.SLICED), at=container or piece.name)
        if at and at != whole.name:
            self._belief.state = replace(self._belief.state, at=at)

    def failed(self, call: SkillCall, result: SkillResult) -> None:
        """Correct the belief that made a call fail."""
        reason, belief = result.reason, self._belief
        things = [belief.named(argument) for argument in call.arguments]
        subject, last = things[0], things[-1]
        told = _state_told(call, reason)
        if told is not None:
            if subject is not None:
                belief.state = belief.state.with_state(subject.name, told)
        elif reason is FailureReason.TOO_FAR:
            belief.state = replace(belief.state, at="")
            belief.apart |= {thing.name for thing in (subject, last) if thing is not None}
        elif reason is FailureReason.CLOSED:
            self._closed(call, result, last if call.skill == "PutObject" else subject)
        elif reason in (FailureReason.HAND_EMPTY, FailureReason.NOT_HOLDING):
            belief.state = replace(belief.state, held="")
        elif reason is FailureReason.HAND_FULL:
            self._discovered_in_hand(result.object_id)
        elif reason in _ELSEWHERE and last is not None and last.name in self._attempt.mentions:
            self._attempt.exclude(last)
        belief.state = replace(belief.state, at="" if call.skill == "GoToObject" else belief.state.at)

    def _closed(self, call: SkillCall, result: SkillResult, subject: Thing | None) -> None:
        """Note that the thing itself, or its container, is closed."""
        if subject is None:
            return
        container = self._belief.named(result.object_id)
        if container is None and result.object_id and self._kinds[subject.object_class].pickupable:
            cover = f"{subject.name} cover"
            container = Thing(cover, "", result.object_id, result.object_id, is_setting=True, is_cover=True)
            self._belief.add(container)
        if container is None:
            container = subject
        if container.name != subject.name:
            self._belief.state = self._belief.state.put(subject.name, container.name)
        self._belief.state = self._belief.state.with_state(container.name, _S.CLOSED)

    def _discovered_in_hand(self, object_id: str) -> None:
        known = self._belief.named(object_id)
        if known is None:
            known = Thing("held", "", object_id, object_id)
            self._belief.add(known)
        self._belief.state = replace(self._belief.state, held=known.name)


def _state_told(call: SkillCall, reason: FailureReason | None) -> ObjectState | None:
    """Return the state that a thing is in by a failure that says that there was nothing to do."""
    if reason is FailureReason.PRECONDITION:
        return _IS_SO_ALREADY.get(call.skill)
    if reason is FailureReason.ALREADY_OPEN:
        return _S.OPENED
    return _S.CLOSED if reason is FailureReason.ALREADY_CLOSED else None
