"""Skill calls, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.states import ObjectState, StateBelief, with_state
from memory_node.domain.text_enum import TextEnum
from memory_node.domain.tried_pose import TriedPose


class FailureReason(TextEnum):
    """The fixed vocabulary of why a skill failed; NONE is success."""

    NONE = "none"
    NOT_FOUND = "not_found"
    NOT_VISIBLE = "not_visible"
    TOO_FAR = "too_far"
    UNREACHABLE = "unreachable"
    HAND_FULL = "hand_full"
    HAND_EMPTY = "hand_empty"
    NOT_HOLDING = "not_holding"
    CLOSED = "closed"
    ALREADY_OPEN = "already_open"
    ALREADY_CLOSED = "already_closed"
    OCCUPIED = "occupied"
    WRONG_OBJECT = "wrong_object"
    PRECONDITION = "precondition"
    INVALID_CALL = "invalid_call"
    EXECUTION = "execution"
    TIMEOUT = "timeout"
    CANCELED = "canceled"
    FORBIDDEN = "forbidden"

    @property
    def by_chance(self) -> bool:
        """Whether the skill failed by itself: nothing is known that was missing, so it may succeed once more."""
        return self in (FailureReason.EXECUTION, FailureReason.TIMEOUT)


@dataclass(frozen=True)
class SkillCall:
    """A skill of the library and its arguments: object or area references (an id, or a class name), in order."""

    skill: str
    arguments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.skill:
            raise InvalidValueError("SkillCall.skill: expected a skill's name, got an empty string")

    def __str__(self) -> str:
        return f"{self.skill}({', '.join(self.arguments)})"

    def renamed(self, names: Mapping[str, str]) -> SkillCall:
        """Return the call with other names for its arguments; what has no other name stays."""
        return SkillCall(self.skill, tuple(names.get(text, text) for text in self.arguments))


@dataclass(frozen=True)
class StateChange:
    """What a finished skill is known to have done to one object.

    added and removed: states; held: True picked up, False put down, None unchanged; support_id and inside: where it
    was put; created_from: the whole that a slice came from; destroyed: the object is no more;
    where the source is "camera", it is not at its place, and may be seen at another one.
    """

    object_id: str
    object_class: str
    stamp_ns: int
    added: tuple[ObjectState, ...] = ()
    removed: tuple[ObjectState, ...] = ()
    held: bool | None = None
    support_id: str = ""
    inside: bool = False
    position: tuple[float, float, float] | None = None
    created_from: str = ""
    destroyed: bool = False
    source: str = "skill"
    probability: float = 1.0

    def states_after(self, states: tuple[StateBelief, ...]) -> tuple[StateBelief, ...]:
        """Return what is believed of the object's states after the change."""
        states = tuple(belief for belief in states if belief.state not in self.removed)
        for state in self.added:
            states = with_state(states, StateBelief(state, self.probability, self.stamp_ns, self.source))
        return states


@dataclass(frozen=True)
class SkillResult:
    """How one skill ended: reason NONE on success; seconds and metres spent; areas visited by Explore; effects; tried
    poses of base and arm; times: how often in a row the call was made."""

    call: SkillCall
    success: bool
    reason: FailureReason = FailureReason.NONE
    message: str = ""
    object_id: str = ""
    duration_s: float = 0.0
    distance_m: float = 0.0
    explored_areas: int = 0
    changes: tuple[StateChange, ...] = field(default=())
    tried: tuple[TriedPose, ...] = ()
    times: int = 1

    def __post_init__(self) -> None:
        if self.success != (self.reason is FailureReason.NONE):
            raise InvalidValueError(f"SkillResult of {self.call}: success={self.success} with reason {self.reason}")
