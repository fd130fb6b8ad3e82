"""The schema of a vision-language model's reply about an object's state, and how it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memory_node.domain.states import ObjectState
from memory_node.llm.errors import RejectedReplyError
from memory_node.llm.json_reply import read_json
from memory_node.short_term.state_conflicts import StateClaim

# KARMA's word for an object in no state of the list: a set without members.
_NONE = "none"
_TEXT_LIMIT = 2000


@dataclass(frozen=True)
class StateReply:
    """A checked reply: what was seen, what of it matters, and the claims that follow."""

    description: str
    relevant: str
    claims: tuple[StateClaim, ...]


def _spelt_as_ours(value: Any) -> Any:
    return value.strip().lower().replace(" ", "_") if isinstance(value, str) else value


class SeenState(BaseModel):
    """One state that a picture speaks for or against."""

    model_config = ConfigDict(frozen=True)
    state: Annotated[ObjectState, BeforeValidator(_spelt_as_ours)]
    probability: Annotated[float, Field(ge=0.0, le=1.0, strict=True)]


def _without_none(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [entry for entry in value if not (isinstance(entry, dict) and entry.get("state") == _NONE)]


class ThingJudgement(BaseModel):
    """What a model says about one thing in the pictures, in the order in which it should look."""

    model_config = ConfigDict(frozen=True)
    thing: Annotated[int, Field(ge=1)]
    description: Annotated[str, Field(max_length=_TEXT_LIMIT)] = ""
    relevant: Annotated[str, Field(max_length=_TEXT_LIMIT)] = ""
    states: Annotated[list[SeenState], Field(max_length=2 * len(ObjectState)), BeforeValidator(_without_none)]


class StateJudgement(BaseModel):
    """What a model says about the things in some pictures."""

    model_config = ConfigDict(frozen=True)
    things: list[ThingJudgement]


def parse_state_reply(text: str, count: int, stamp_ns: int, source: str = "vlm") -> dict[int, StateReply]:
    """Return what a model's text says of the things that it speaks of, by their numbers, from 1 to `count`.

    stamp_ns: when the pictures were taken. source: who claims it.

    Raises:
        RejectedReplyError: there is no JSON object in it, or one that breaks the schema; the message says where.
    """
    found: dict[int, StateReply] = {}
    for judged in read_json(StateJudgement, text).things:
        if judged.thing > count:
            raise RejectedReplyError("thing", f"there are {count} things, and none of number {judged.thing}")
        if judged.thing in found:
            raise RejectedReplyError("contradiction", f"thing {judged.thing} is judged twice")
        found[judged.thing] = StateReply(judged.description, judged.relevant, _claims(judged.states, stamp_ns, source))
    return found


def _claims(states: Sequence[SeenState], stamp_ns: int, source: str) -> tuple[StateClaim, ...]:
    claims: dict[ObjectState, StateClaim] = {}
    for seen in states:
        if seen.state in claims:
            raise RejectedReplyError("contradiction", f"states: {seen.state} is given twice")
        claims[seen.state] = StateClaim(seen.state, seen.probability, stamp_ns, source)
    return tuple(claims.values())
