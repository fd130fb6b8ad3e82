"""The form of a scenario: what a file of days may say (docs/life.md), as types that refuse everything else."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from memory_node.domain.skill import FailureReason
from memory_node.domain.skill_library import ALL_SKILLS, GoalKind
from memory_node.domain.states import ObjectState

Category = Literal["where", "recent", "past", "lessons", "ways", "facts", "state"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

_SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0, "d": 86400.0}
_SECONDS["day"] = 86400.0
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+?)s?")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_NOT = "not "


def _duration_s(text: Any) -> Any:
    match = _DURATION.fullmatch(str(text).strip().lower())
    unit = match[2] if match is not None and match[2] else "s"
    if match is None or unit not in _SECONDS:
        raise ValueError('expected a time such as "2 h", "20 min" or "30 s"')
    return float(match[1]) * _SECONDS[unit]


def _minute_of_day(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):  # YAML reads a bare 19:30 as minutes
        hours, minutes = divmod(value, 60)
        value = f"{hours}:{minutes:02d}"
    match = _TIME.fullmatch(str(value).strip())
    if match is None:
        raise ValueError('expected a time of day such as "19:30"')
    return int(match[1]) * 60 + int(match[2])


def _skill(name: str) -> str:
    if name not in ALL_SKILLS:
        raise ValueError(f"{name!r} is no skill; there are {', '.join(sorted(ALL_SKILLS))}")
    return name


def _call(text: str) -> str:
    _skill((text.split() or [""])[0])
    return text


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _reason(value: FailureReason) -> FailureReason:
    if value in (FailureReason.NONE, FailureReason.CANCELED):
        raise ValueError(f"{value} is no reason of a fault")
    return value


def _some(value: Any) -> Any:
    if not value:
        raise ValueError("it says nothing")
    return value


Text = Annotated[str, Field(min_length=1, max_length=4000)]
Seconds = Annotated[float, BeforeValidator(_duration_s)]
MinuteOfDay = Annotated[int, BeforeValidator(_minute_of_day)]
SkillName = Annotated[str, AfterValidator(_skill)]
Call = Annotated[str, AfterValidator(_call)]
States = Annotated[tuple[ObjectState, ...], BeforeValidator(_listed), AfterValidator(_some)]
Reason = Annotated[FailureReason, AfterValidator(_reason)]
Words = Annotated[tuple[Text, ...], AfterValidator(_some)]


class _Form(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WantedState(_Form):
    """A state that must hold at the end, or must not."""

    state: ObjectState
    holds: bool = True

    @classmethod
    def read(cls, text: Any) -> Any:
        """Return what "cleaned" or "not cleaned" says."""
        if not isinstance(text, str):
            return text
        return {"state": text.removeprefix(_NOT).strip(), "holds": not text.startswith(_NOT)}

    def __str__(self) -> str:
        return f"{'' if self.holds else _NOT}{self.state}"


WantedStates = Annotated[
    tuple[Annotated[WantedState, BeforeValidator(WantedState.read)], ...],
    BeforeValidator(_listed),
    AfterValidator(_some),
]


class Want(_Form):
    """What must come of a step; all of it."""

    at: dict[Text, Text] = {}
    state: dict[Text, WantedStates] = {}
    calls: tuple[Call, ...] = ()
    no_calls: tuple[Call, ...] = ()
    most_calls: int | None = Field(default=None, ge=0)
    most_searches: int | None = Field(default=None, ge=0)
    most_metres: float | None = Field(default=None, ge=0.0)
    asks: bool | None = None
    says: tuple[Words, ...] = ()
    silent_on: tuple[Text, ...] = ()
    done: bool | None = None
    only: tuple[Text, ...] | None = None


class GoalForm(_Form):
    """A typed goal. number: how many things."""

    kind: GoalKind
    object: str = ""
    place: str = ""
    number: int = Field(default=1, ge=1)


class FaultKeys(_Form):
    """Which calls are meant: all keys that are given must fit."""

    skill: SkillName
    thing: str = ""
    class_name: str = Field(default="", alias="class")
    place: str = ""


class Fault(FaultKeys):
    """Calls that fail although their declared preconditions hold. tries: so many of each instruction, 0 for all.
    from_minute, to_minute: of the day, None for always. unless: the call that ends it for a while."""

    reason: Reason = FailureReason.EXECUTION
    tries: int = Field(default=0, ge=0)
    from_minute: MinuteOfDay | None = Field(default=None, alias="from")
    to_minute: MinuteOfDay | None = Field(default=None, alias="to")
    unless: FaultKeys | None = None


class Tell(_Form):
    """Somebody tells a fact."""

    tell: Text
    by: str = ""


class Document(_Form):
    """A document is imported."""

    document: Text
    title: str = ""


class Move(_Form):
    """Things move."""

    move: Annotated[dict[Text, Text], AfterValidator(_some)]
    seen: bool = False


class ChangeState(_Form):
    """States change."""

    state: Annotated[dict[Text, States], AfterValidator(_some)]
    seen: bool = False


class Newcomer(_Form):
    """A thing that comes into the home."""

    class_name: Text = Field(alias="class")
    at: Text


class Add(_Form):
    """Things come into the home."""

    add: Annotated[dict[Text, Newcomer], AfterValidator(_some)]
    seen: bool = False


class Remove(_Form):
    """Things leave the home."""

    remove: Annotated[tuple[Text, ...], AfterValidator(_some)]
    seen: bool = False


class BeginFault(_Form):
    """A fault begins."""

    fault: Fault


class Mend(_Form):
    """The faults with these keys end."""

    mend: Fault


class See(_Form):
    """The robot looks around in a room."""

    see: Text


class Wait(_Form):
    """Time passes."""

    wait: Seconds


class NextDay(_Form):
    """The night passes."""

    next_day: Literal[True]


class Time(_Form):
    """Time passes until then."""

    time: MinuteOfDay


class Restart(_Form):
    """Memory is closed and opened again."""

    restart: Literal[True]


class Step(_Form):
    """What is said to the robot."""

    words: Text
    want: Want | None = None


class Do(Step):
    """An instruction."""

    words: Text = Field(alias="do")
    goals: tuple[GoalForm, ...] = ()
    interrupt_after: int | None = Field(default=None, ge=1)


class Ask(Step):
    """A question."""

    words: Text = Field(alias="ask")


class Answer(Step):
    """An answer to the robot's last question."""

    words: Text = Field(alias="answer")


_KINDS: dict[str, type[_Form]] = {
    "tell": Tell,
    "document": Document,
    "move": Move,
    "state": ChangeState,
    "add": Add,
    "remove": Remove,
    "fault": BeginFault,
    "mend": Mend,
    "see": See,
    "wait": Wait,
    "next_day": NextDay,
    "time": Time,
    "restart": Restart,
    "answer": Answer,
    "do": Do,
    "ask": Ask,
}


def _kind_of(value: Any) -> str | None:
    keys = [key for key in _KINDS if key in value] if isinstance(value, dict) else []
    return keys[0] if len(keys) == 1 else None


Event = Annotated[
    Annotated[Tell, Tag("tell")]
    | Annotated[Document, Tag("document")]
    | Annotated[Move, Tag("move")]
    | Annotated[ChangeState, Tag("state")]
    | Annotated[Add, Tag("add")]
    | Annotated[Remove, Tag("remove")]
    | Annotated[BeginFault, Tag("fault")]
    | Annotated[Mend, Tag("mend")]
    | Annotated[See, Tag("see")]
    | Annotated[Wait, Tag("wait")]
    | Annotated[NextDay, Tag("next_day")]
    | Annotated[Time, Tag("time")]
    | Annotated[Restart, Tag("restart")]
    | Annotated[Answer, Tag("answer")]
    | Annotated[Do, Tag("do")]
    | Annotated[Ask, Tag("ask")],
    Discriminator(
        _kind_of,
        custom_error_type="event",
        custom_error_message=f"expected exactly one of {', '.join(_KINDS)}",
    ),
]


class Scenario(_Form):
    """One day or several, in one home."""

    id: Text
    category: Category
    home: Text
    known: Literal["all", "nothing"] | tuple[Text, ...] = "all"
    extra: dict[Text, Annotated[int, Field(ge=1, le=1000)]] = {}
    people: dict[Text, Text] = {}
    events: Annotated[tuple[Event, ...], AfterValidator(_some)]

    @property
    def judged(self) -> tuple[int, ...]:
        """The places of the events that are judged."""
        return tuple(i for i, event in enumerate(self.events) if getattr(event, "want", None) is not None)
