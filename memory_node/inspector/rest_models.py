"""What REST takes: the fields of the services of the same name, as pydantic models.

Stamps are seconds since 1970, or of the simulated clock: a JavaScript number does not hold nanoseconds.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from memory_node.domain.geometry import POSITION_LIMIT_M
from memory_node.domain.states import ObjectState
from memory_node.inspector.edit_book import LONGEST_WAIT_S

Metres = Annotated[float, Field(ge=-POSITION_LIMIT_M, le=POSITION_LIMIT_M, allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=4000)]
Name = Annotated[str, Field(max_length=200)]
Concept = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
Count = Annotated[int, Field(ge=0, le=100)]
Tokens = Annotated[int, Field(ge=50, le=20_000)]
Seconds = Annotated[float, Field(ge=0.0, le=9.2e9, allow_inf_nan=False)]
Wait = Annotated[float, Field(ge=0.0, le=LONGEST_WAIT_S, allow_inf_nan=False)]
Position = Annotated[list[Metres], Field(min_length=3, max_length=3, description="(x, y, z) in map, metres")]


def _not_text(value: object) -> object:
    """Return the value of a whole number, which may be written 5.0, but not "5"."""
    if isinstance(value, (str, bool)):
        raise ValueError("expected a whole number")
    return value


BodyCount = Annotated[Count, Field(strict=False), BeforeValidator(_not_text)]
BodyTokens = Annotated[Tokens, Field(strict=False), BeforeValidator(_not_text)]
# In strict models, too, it comes as a text.
State = Annotated[ObjectState, Field(strict=False)]


class Request(BaseModel):
    """A body; what it has no field for is refused, and so is a text in the place of a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class RecallObjects(Request):
    """srv/RecallObjects; empty fields do not restrict."""

    text: Text = ""
    object_class: Name = ""
    states: Annotated[list[State], Field(max_length=20)] = []
    position: Position | None = None
    k: BodyCount = 5


class FindObjects(RecallObjects):
    """srv/FindObjects."""

    area_id: Name = ""
    as_of_s: Seconds = 0.0


class LocateObject(RecallObjects):
    """srv/LocateObject."""

    area_id: Name = ""
    max_areas: BodyCount = 0
    exclude_ids: Annotated[list[Name], Field(max_length=1000)] = []
    exclude_supports: Annotated[list[Name], Field(max_length=1000)] = []


class RankSearchAreas(Request):
    """srv/RankSearchAreas."""

    object_class: Concept
    k: BodyCount = 0


class AskMemory(Request):
    """srv/AskMemory."""

    question: Words
    mode: Literal["", "episodic", "semantic", "procedural"] = ""
    k: BodyCount = 0


class GetContext(Request):
    """srv/GetContext."""

    instruction: Text
    token_budget: BodyTokens = 2000
    episode_id: Name = ""


class Edit(Request):
    """Every edit. wait_s: it is carried out so much later, and may be called off until then."""

    wait_s: Wait = 0.0


_NAMED_BY_ID: JsonValue = {"required": ["object_id"], "properties": {"object_id": {"pattern": r"\S"}}}
_NAMED_BY_CLASS: JsonValue = {"required": ["object_class"], "properties": {"object_class": {"pattern": r"\S"}}}


class Remember(Edit):
    """One change of srv/Remember (msg/StateChange), told by a person; object_id or object_class names the thing."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [_NAMED_BY_ID, _NAMED_BY_CLASS]})

    object_class: Name = ""
    object_id: Name = ""
    added: Annotated[list[State], Field(max_length=20)] = []
    removed: Annotated[list[State], Field(max_length=20)] = []
    support: Name = ""
    inside: bool = False
    position: Position | None = None


class MoveObject(Edit):
    """An object is somewhere else: srv/Remember with a position alone."""

    object_id: Concept
    position: Position


# Of srv/EditObject: these operations need a name.
_NAMED = ("relabel", "call", "name_room")
_NAMING: dict[str, JsonValue] = {"properties": {"operation": {"enum": list(_NAMED)}}}
_WITH_NAME: dict[str, JsonValue] = {"required": ["new_class"], "properties": {"new_class": {"pattern": r"\S"}}}


class EditObject(Edit):
    """srv/EditObject."""

    model_config = ConfigDict(json_schema_extra={"if": _NAMING, "then": _WITH_NAME})

    operation: Literal["relabel", "call", "merge", "split", "delete", "restore", "name_room"]
    object_id: Concept
    other_id: Name = ""
    new_class: Name = ""
    position: Position = [0.0, 0.0, 0.0]

    @model_validator(mode="after")
    def _is_named(self) -> EditObject:
        if self.operation in _NAMED and not self.new_class.strip():
            raise ValueError(f"new_class: {self.operation} needs a name, got a blank one")
        return self


class TellFact(Edit):
    """srv/TellFact."""

    text: Words
    teller: Name = ""


class RetractFact(Edit):
    """A statement, in the words in which memory tells it, counts no longer."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class Undo(Request):
    """Nothing is asked; the empty body tells it from what a page of another site can send."""


class Forget(Edit):
    """srv/Forget, of one object."""

    object_id: Concept


class ConfirmRelocalization(Edit):
    """srv/ConfirmRelocalization, where the map has not moved."""
