"""Goals in a language model's words, for instructions that no reader of ours follows."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.llm.errors import RejectedReplyError
from memory_node.llm.json_reply import read_json
from memory_node.planner.goal import Goal, Mention

_Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=60)]
_PLACED = frozenset({GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK})


class SaidGoal(BaseModel):
    """What is to be done with which thing; place: where it ends, "" where nothing is said of that."""

    model_config = ConfigDict(frozen=True)
    kind: GoalKind
    object: _Name
    place: _Name = ""


class SaidGoals(BaseModel):
    """All that an instruction asks for, in order."""

    model_config = ConfigDict(frozen=True)
    goals: Annotated[list[SaidGoal], Field(min_length=1, max_length=8)]


def read_said_goals(text: str, kinds: ObjectCatalogue) -> tuple[Goal, ...]:
    """Return the goals of a reply.

    Raises:
        RejectedReplyError: it breaks the schema, names what is no class, or a goal lacks its place.
    """
    return tuple(_goal(said, kinds) for said in read_json(SaidGoals, text).goals)


def _goal(said: SaidGoal, kinds: ObjectCatalogue) -> Goal:
    if said.kind in _PLACED and not said.place:
        raise RejectedReplyError("no_place", f"{said.kind} {said.object}: where to?")
    place = _mention(said.place, kinds) if said.place else None
    target = _mention(said.object, kinds)
    return Goal(said.kind, target, place, count=2 if said.kind is GoalKind.PLACE_TWO else 1)


def _mention(words: str, kinds: ObjectCatalogue) -> Mention:
    kind = kinds.find(words)
    candidates = (kind.name,) if kind is not None else kinds.spoken_names.classes(words.lower())
    if not candidates:
        raise RejectedReplyError("unknown_class", f"{words!r} is no class of thing")
    return Mention(words, candidates)
