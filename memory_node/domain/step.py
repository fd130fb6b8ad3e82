"""The steps of an episode, as experience records them, and the deeds that are kept of them."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange, TriedPose


@dataclass(frozen=True)
class StepRecord:
    """One executed action of an episode: BrainMem's [action, feedback, agent state, location, timestamp].

    index counts from 0 within the episode. held_object: class of what the hand held after the step; a planner that does
    not know leaves it to memory. room and area: where the robot was. visible: ids or classes of the key objects in
    view, relations: facts such as "apple on table". tried: poses of base and arm; the deed keeps them, the step not.
    reasoning: why it was chosen, in its planner's words; the attempt keeps it, the step not.
    """

    episode_id: str
    index: int
    action: SkillCall
    success: bool
    reason: FailureReason
    stamp_ns: int
    message: str = ""
    held_object: str = ""
    room: str = ""
    area: str = ""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    visible: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    duration_s: float = 0.0
    distance_m: float = 0.0
    tried: tuple[TriedPose, ...] = ()
    reasoning: str = ""

    @classmethod
    def of(cls, result: SkillResult, episode_id: str, index: int, stamp_ns: int, action: SkillCall) -> StepRecord:
        """Return the step of a call that has ended so; action: the call as experience keeps it."""
        return cls(
            episode_id=episode_id,
            index=index,
            action=action,
            success=result.success,
            reason=result.reason,
            stamp_ns=stamp_ns,
            message=result.message,
            duration_s=result.duration_s,
            distance_m=result.distance_m,
            tried=result.tried,
        )


@dataclass(frozen=True)
class DemonstratedStep:
    """A step of what somebody shows the robot, with what it changed.

    instruction: what is shown, "" when nobody said. has_ended: nothing more is shown; the step is the last one again.
    """

    instruction: str
    step: StepRecord
    changes: tuple[StateChange, ...] = ()
    has_ended: bool = False


@dataclass(frozen=True)
class ModelCost:
    """What a language model took in an episode: tokens sent (cached: of those, read before by its endpoint) and
    written, how often it was asked, seconds, and USD by the planner's prices."""

    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    replies: int = 0
    model_s: float = 0.0
    usd: float = 0.0

    @property
    def tokens_new(self) -> int:
        """Of the tokens sent, those that the model's endpoint had not read before."""
        return self.tokens_in - self.tokens_cached

    def __add__(self, other: ModelCost) -> ModelCost:
        return ModelCost(*(one + more for one, more in zip(astuple(self), astuple(other))))


NO_COST = ModelCost()


@dataclass(frozen=True)
class EpisodeAccount:
    """What an episode took of a language model, and what its planner had to say on the way."""

    cost: ModelCost = NO_COST
    notes: tuple[str, ...] = ()


NO_ACCOUNT = EpisodeAccount()


@dataclass(frozen=True)
class FirstScene:
    """What an attempt began with: the room, the classes of movable things in view, and of what the hand held."""

    room: str = ""
    visible: tuple[str, ...] = ()
    held_object: str = ""


NOTHING_SEEN = FirstScene()


@dataclass(frozen=True)
class EpisodeSummary:
    """One attempt at an instruction, from its first step to its end; message: why it failed, in its planner's words.

    The message and the first scene go into what is learnt; they are not stored with the episode.
    """

    id: str
    instruction: str
    task_type: str
    started_ns: int
    ended_ns: int = 0
    success: bool | None = None
    attempt: int = 1
    robot_id: str = ""
    message: str = ""
    first: FirstScene = NOTHING_SEEN


@dataclass(frozen=True)
class Deed:
    """A skill that was tried with a thing, with memory's ids.

    source: "episode:step". object_id, object_class: the thing; from_id, from_class: what it stood on or in before;
    to_id, to_class: where it was put, or the appliance it was done at. "" where memory knew none. reason: why it
    failed although nothing that is declared was missing, "" where it succeeded. tried: where base and arm tried it.
    looks: the thing's description as it was then, "" for none.
    """

    source: str
    skill: str
    object_id: str
    object_class: str
    stamp_ns: int
    from_id: str = ""
    from_class: str = ""
    to_id: str = ""
    to_class: str = ""
    reason: str = ""
    tried: tuple[TriedPose, ...] = ()
    looks: str = ""

    @property
    def episode_id(self) -> str:
        """The episode that it belongs to."""
        return self.source.rpartition(":")[0]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Deed:
        """Return the deed of stored values.

        Raises:
            InvalidValueError: a value is missing or of another type.
        """
        known = {field.name: field.type for field in fields(cls)}
        poses = tuple(map(TriedPose.from_dict, values.get("tried", ())))
        given = {name: value for name, value in values.items() if name in known and name != "tried"}
        if not all(isinstance(value, int if known[name] == "int" else str) for name, value in given.items()):
            raise InvalidValueError(f"deed: expected texts and a stamp, got {values!r:.80}")
        try:
            return cls(**given, tried=poses)
        except TypeError as error:
            raise InvalidValueError(f"deed: {error}") from error
