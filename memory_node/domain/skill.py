"""Skill calls: how they name things, what they change, how they end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import POSITION_LIMIT_M
from memory_node.domain.states import DOORS, ObjectState, StateBelief, with_state
from memory_node.domain.text_enum import TextEnum


class PoseKind(TextEnum):
    """What stood at a tried pose."""

    STAND_OFF = "stand_off"  # the base, for the arm to use the thing
    GRASP = "grasp"  # the tool, when it took the thing
    SPOT = "spot"  # what was put down in or on the thing


@dataclass(frozen=True)
class TriedPose:
    """numbers: x, y, z (m) and the quaternion x, y, z, w, as seen from the thing: from the middle of its box, turned by
    its yaw. object_id, object_class: the thing, as memory has it. worked: whether the skill got on from there."""

    kind: PoseKind
    object_id: str
    object_class: str
    numbers: tuple[float, float, float, float, float, float, float]
    worked: bool

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TriedPose:
        """Return the pose of stored values.

        Raises:
            InvalidValueError: it is none.
        """
        try:
            numbers = tuple(map(float, values["numbers"]))
            if len(numbers) != 7:
                raise ValueError("expected seven numbers")
            named = str(values["object_id"]), str(values["object_class"])
            return cls(PoseKind(values["kind"]), *named, numbers, bool(values["worked"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidValueError(f"a tried pose: {error!r}") from None


@dataclass(frozen=True)
class ObjectReference:
    """A parsed object argument: an opaque id, or a class with or without a position (x, y, z) in map, metres."""

    text: str
    object_class: str
    position: tuple[float, float, float] | None = None

    @classmethod
    def parse(cls, text: str) -> ObjectReference:
        """Read "Class@x,y,z", or take the whole text as id or class.

        Raises:
            InvalidValueError: there is an "@" but no three numbers behind it, or such as no home has.
        """
        name, mark, numbers = text.partition("@")
        if not mark:
            return cls(text, text)
        try:
            x, y, z = (float(number) for number in numbers.split(","))
        except ValueError:
            raise InvalidValueError(f"object {text!r}: expected Class@x,y,z with numbers in metres") from None
        if not all(abs(value) <= POSITION_LIMIT_M for value in (x, y, z)):  # not a number is not less, either
            raise InvalidValueError(f"object {text!r}: expected Class@x,y,z within {POSITION_LIMIT_M / 1000:g} km")
        return cls(text, name, (x, y, z))

    @classmethod
    def at(cls, object_class: str, position: Iterable[float]) -> ObjectReference:
        """Return the reference to a remembered object, grounded by class and position (x, y, z) in map."""
        x, y, z = (float(value) for value in position)
        return cls(f"{object_class}@{x:.3f},{y:.3f},{z:.3f}", object_class, (x, y, z))

    def __str__(self) -> str:
        return self.text


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


class SkillFailure(Exception):  # noqa: N818 - a skill's failure is an outcome, not an error of the program
    """A skill ended without success; never leaves a robot's `execute`. object_id: of what hindered it."""

    def __init__(self, reason: FailureReason, message: str, object_id: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.object_id = object_id


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

    @property
    def door(self) -> ObjectState | None:
        """Whether it says that the object was opened or closed, None for neither."""
        return next((state for state in self.added if state in DOORS), None)

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


_PASSED_OVER = "not:"


@dataclass(frozen=True)
class Exploration:
    """Explore, read.

    target_class: what to look for. stops: areas' ids, places "x,y" in map, or containers, in order. passed_over: ids
    of things of the class that do not count, such as the first of two that are to be fetched. A robot that does not
    know an id passes over nothing for it.
    """

    target_class: str
    stops: tuple[str, ...] = ()
    passed_over: frozenset[str] = frozenset()

    @classmethod
    def of(cls, call: SkillCall) -> Exploration:
        """Read a call's arguments: `not:ID` is passed over, every other one behind the class is a stop.

        Raises:
            InvalidValueError: nothing is looked for.
        """
        if not call.arguments:
            raise InvalidValueError(f"{call}: expected the class to look for")
        wanted, *others = call.arguments
        passed_over = (text.removeprefix(_PASSED_OVER) for text in others if text.startswith(_PASSED_OVER))
        stops = (text for text in others if not text.startswith(_PASSED_OVER))
        return cls(wanted, tuple(stops), frozenset(passed_over))

    @property
    def call(self) -> SkillCall:
        """The call that asks for it."""
        passed_over: Iterable[str] = (f"{_PASSED_OVER}{one}" for one in sorted(self.passed_over))
        return SkillCall("Explore", (self.target_class, *self.stops, *passed_over))
