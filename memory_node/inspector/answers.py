"""What agents and programs are answered: pydantic models with the names and units of the ROS messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memory_node.domain.answer import Location, ObjectAnswer, Recollection
from memory_node.domain.context import Context, estimate_tokens
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.states import StateBelief
from memory_node.domain.step import ModelCost
from memory_node.questions.present import BELIEVED, ThingWords

OfKind = TypeVar("OfKind", bound="Row")


class At(NamedTuple):
    """Where a field is in memory's object ("box.center"); without one it has the same name."""

    path: str


class Row(BaseModel):
    """Fields that are read off one object of memory. The kinds of fields below may be given what they already are."""

    model_config = ConfigDict(populate_by_name=True)

    @classmethod
    def of(cls: type[OfKind], value: Any, **more: Any) -> OfKind:
        """Return the row of an object; more: fields that are not read off it, by their names here."""
        return cls(**more, **{one.name: one.read(value) for one in _fields(cls) if one.name not in more})

    @classmethod
    def plain(cls, value: Any) -> dict[str, Any]:
        """Return what the row of an object is as JSON; in half the time, as nothing is checked."""
        return {one.key: one.convert(one.read(value)) for one in _fields(cls)}


class _Field(NamedTuple):
    name: str
    key: str
    read: Callable[[Any], Any]
    convert: Callable[[Any], Any]


@cache
def _fields(row: type[Row]) -> tuple[_Field, ...]:
    found = []
    for name, field in row.model_fields.items():
        path = next((one.path for one in field.metadata if isinstance(one, At)), name)
        # pydantic applies the last of them first.
        kinds: list[Any] = [one.func for one in field.metadata if isinstance(one, BeforeValidator)]
        found.append(_Field(name, field.alias or name, attrgetter(path), _in_turn(kinds[::-1])))
    return tuple(found)


def _in_turn(kinds: Sequence[Any]) -> Callable[[Any], Any]:
    """Return what applies these one after another."""
    if len(kinds) < 2:
        return kinds[0] if kinds else lambda value: value
    first, rest = kinds[0], _in_turn(kinds[1:])
    return lambda value: rest(first(value))


def seconds(stamp_ns: int) -> float:
    """Return a stamp in seconds, to the microsecond."""
    return round(stamp_ns * 1e-9, 6)


def nanoseconds(stamp_s: float) -> int:
    """Return a stamp of the page in nanoseconds."""
    return round(stamp_s * 1e9)


def rounded(digits: int) -> BeforeValidator:
    """Return what makes a field a number of so many digits."""
    return BeforeValidator(lambda value: round(float(value), digits))


def several(row: type[Row]) -> BeforeValidator:
    """Return what makes a field a list of rows."""
    return BeforeValidator(lambda values: [one if isinstance(one, row | dict) else row.of(one) for one in values])


def _names(values: Iterable[Any]) -> list[str]:
    return [
        str(one.state if isinstance(one, StateBelief) else one)
        for one in (sorted(values) if isinstance(values, frozenset) else values)
    ]


def _believed(values: Iterable[Any]) -> list[str]:
    return _names(one for one in values if not isinstance(one, StateBelief) or one.probability >= BELIEVED)


# A stamp, which memory has in nanoseconds, in seconds.
Stamp = Annotated[float, BeforeValidator(lambda value: seconds(value) if isinstance(value, int) else value)]
Metres = Annotated[list[float], BeforeValidator(lambda values: [round(float(one), 3) for one in values])]
Name = Annotated[str, BeforeValidator(str)]
Names = Annotated[list[str], BeforeValidator(_names)]
# Of states those that are likelier than not.
Believed = Annotated[list[str], BeforeValidator(_believed)]
# None where memory has "".
OrNone = Annotated[str | None, BeforeValidator(lambda text: text or None)]


_DAY_S = 24 * 3600.0


def _clock_time(stamp_ns: Any) -> Any:
    if not isinstance(stamp_ns, int):
        return stamp_ns
    return datetime.fromtimestamp(stamp_ns * 1e-9).isoformat(timespec="seconds") if stamp_ns else None


_CLOCK_TIME = BeforeValidator(_clock_time)


class FoundObject(Row):
    """One remembered thing, and what ranks it."""

    object_id: str
    object_class: str
    class_probability: Annotated[float, rounded(4)]
    position_m: Annotated[Metres, At("position")] = Field(
        description="centre (x, y, z) in the frame `frame_id`, in metres"
    )
    frame_id: str
    room: Annotated[OrNone, At("room_name")]
    area_id: OrNone
    support_id: OrNone = Field(description="the object that it stands on or in; null: none is known")
    inside: bool
    states: Names
    existence: Annotated[float, rounded(4)] = Field(description="how likely it is still there, 0 to 1")
    age_s: Annotated[float, rounded(1)] = Field(description="seconds since it was last seen")
    status: Name = Field(description="OK, or why the answer is doubtful")
    explanation: str
    score: Annotated[float, rounded(4)] = Field(
        description="relevance to the question, 0 to 1; answers come in this order"
    )
    source: str = Field(description="short_term or long_term")
    why: list[str] = Field(description="what speaks for it and against it, in words")


def why(answer: ObjectAnswer) -> list[str]:
    """Return the reasons for and against an answer, the strongest first: fit, class, presence, age, status."""
    reasons = [
        f"relevance {answer.score:.2f}",
        f"{answer.object_class} with probability {answer.class_probability:.2f}",
        f"still there with probability {answer.existence:.2f}",
    ]
    if answer.age_s >= _DAY_S:
        reasons.append(f"last seen {answer.age_s / _DAY_S:.0f} days ago")
    reasons += [f"{belief.state} with probability {belief.probability:.2f}" for belief in answer.states]
    if answer.last_missed_ns:
        reasons.append("looked for in vain since it was last seen")
    if answer.explanation:
        reasons.append(answer.explanation)
    return reasons


class PlaceToLook(Row):
    """A place where a thing is likely."""

    area_id: str
    name: str
    position_m: Annotated[Metres, At("position")] = Field(description="(x, y) in map, in metres")
    probability: Annotated[float, rounded(4)]
    reason: str


class Found(BaseModel):
    """Answers, best first; none where memory abstains. status and explanation say why."""

    status: str
    explanation: str
    objects: list[FoundObject]

    @classmethod
    def of(cls, answer: Recollection | Location) -> Found:
        """Return what memory found."""
        objects = [FoundObject.of(one, why=why(one)) for one in answer.answers]
        return cls(status=str(answer.status), explanation=answer.explanation, objects=objects)


class Located(Found):
    """Where a thing is, or where to look for it."""

    areas: list[PlaceToLook]


class Statement(Row):
    """A proposition. sources: the steps that showed or said it; made_by: what read it out of them."""

    text: str
    told: Annotated[bool, At("was_told")] = Field(description="a person told it")
    teller: str = Field(description="who told it, or what its document is about; empty: unknown")
    concepts: Names
    sources: Names
    support: int
    stamp_s: Annotated[Stamp, At("stamp_ns")]
    active: bool
    made_by: str


class Answer(Row):
    """What is known of a question."""

    answer: Annotated[OrNone, At("words")] = Field(description="in words; null where nothing is known at all")
    abstains: bool = Field(description="memory does not know; the answer then says what it does not know")
    confidence: Annotated[float, rounded(4)]
    mode: Name
    object_ids: Names = Field(description="the things that the answer is about")
    propositions: Annotated[list[Statement], several(Statement)] = Field(
        description="the statements behind the answer, best first"
    )


class WhatChanged(BaseModel):
    """What changed since a moment."""

    changes: list[str] = Field(description="what came, went, moved and became of things, in words")


class ToldEpisode(Row):
    """One instruction and how it ended."""

    episode_id: Annotated[str, At("id")]
    instruction: str
    started: Annotated[str, At("started_ns"), _CLOCK_TIME] = Field(description="local time, ISO 8601")
    ended: Annotated[str | None, At("ended_ns"), _CLOCK_TIME] = Field(description="null: it runs")
    success: bool | None = Field(description="null: it runs, or was given up")


class ToldEpisodes(BaseModel):
    """What the robot was told to do, the newest first."""

    episodes: list[ToldEpisode]


class Thing(Row):
    """All that is known of one thing."""

    object_id: Annotated[str, At("id")]
    name: str
    aliases: Names
    object_class: Annotated[str, At("class_name")]
    where: str = Field(description="in words")
    position_m: Annotated[Metres, At("box.center")] = Field(description="centre (x, y, z) in map, in metres")
    size_m: Annotated[Metres, At("box.size")]
    room: OrNone
    support_id: OrNone = Field(description="the object that it stands on or in; null: none is known")
    support: str | None = Field(description="its name")
    inside: bool
    states: Believed
    existence: Annotated[float, rounded(4)] = Field(description="how likely it is still there, 0 to 1")
    is_there: bool = Field(description="false: it is gone, and this is where it was last")
    age_s: Annotated[float, rounded(1)] = Field(description="seconds since it was last seen")
    on_or_in_it: list[str] = Field(description="names of what stands on it or in it")
    earlier_places: int = Field(description="how many are on record")

    @classmethod
    def told(cls, found: SceneObject, scene: SceneSnapshot, words: ThingWords, now_ns: int) -> Thing:
        """Return one object; scene: what stands where."""
        return cls.of(
            found,
            where=words.gone(found) if found.removed else words.whereabouts(found),
            room=scene.room_of(found),
            support=under.name if (under := scene.by_id.get(found.support_id)) else None,
            is_there=not found.removed,
            age_s=(now_ns - found.last_seen_ns) * 1e-9,
            on_or_in_it=[one.name for one in scene.objects if one.support_id == found.id],
            earlier_places=len(found.history),
        )


class Section(BaseModel):
    """One section of a context. A section that is left out wholly has no tokens."""

    name: str
    tokens: int
    lines: int = Field(description="how many of its lines are in the text")
    cut: list[str] = Field(description="its lines that the budget left out")
    cut_tokens: int = Field(description="tokens of these")


class ContextText(BaseModel):
    """A context as a language model is sent it."""

    context_id: str
    text: str
    tokens: int
    token_budget: int
    sections: list[Section] = Field(description="in their order, those that were left out wholly at the end")

    @classmethod
    def of(cls, context: Context, token_budget: int) -> ContextText:
        """Return a context that was made within a budget."""
        cut = context.cut
        sections = [
            Section(
                name=name,
                tokens=context.section_tokens.get(name, 0),
                lines=context.section_lines.get(name, 0),
                cut=list(cut.get(name, ())),
                cut_tokens=estimate_tokens("\n".join(cut[name])) if name in cut else 0,
            )
            for name in dict.fromkeys((*context.section_tokens, *cut))
        ]
        budget = {"tokens": context.tokens, "token_budget": token_budget}
        return cls(context_id=context.id, text=context.text, sections=sections, **budget)


class EditRecord(Row):
    """What became of an edit."""

    id: str
    who: str
    what: Annotated[str, At("words")]
    stamp_s: Annotated[Stamp, At("stamp_ns")]
    state: Literal["waiting", "done", "undone", "failed"]
    undoable: bool
    ids: Names = Field(description="objects that carry on or are new; of a told fact its statements")
    due_s: Annotated[Stamp, At("due_ns")] = Field(description="when it is carried out, where it waits")
    message: str = Field(description="why it failed, or what else came of it")


class Cost(BaseModel):
    """What an instruction took."""

    tokens_in: int = Field(description="that a language model was sent")
    tokens_cached: int = Field(description="of those, the ones that its endpoint had read before, as far as it says")
    tokens_out: int = Field(description="that it wrote")
    replies: int = Field(description="how often it was asked")
    model_s: float = Field(description="seconds that it took")
    usd: float = Field(description="by the prices of the planner's parameters; 0: none are given")
    robot_s: float = Field(description="seconds of the robot's skills")

    @classmethod
    def of(cls, cost: ModelCost, robot_s: float) -> Cost:
        """Return the cost of a language model with the robot's seconds."""
        rounded = {"model_s": round(cost.model_s, 2), "usd": round(cost.usd, 6), "robot_s": round(robot_s, 2)}
        return cls(**{**asdict(cost), **rounded})


class TaskState(BaseModel):
    """How far an instruction is, or what became of it."""

    task_id: str
    instruction: str
    state: Literal["running", "done", "failed", "asks", "canceled"] = Field(
        description="asks: nothing was done; give the answer to `question` as the next instruction"
    )
    step: int = Field(description="how many skills were begun")
    skill: str = Field(description="what the robot does now")
    plan: list[str] = Field(description="what is still to do, in words")
    notes: list[str] = Field(description="what the planner had to say on the way: warnings, substitutes")
    message: str = Field(description="why it failed, or the answer to a question")
    question: str
    choices: list[str]
    episode_id: str = Field(description="its steps: memory://episodes/ID")
    cost: Cost
