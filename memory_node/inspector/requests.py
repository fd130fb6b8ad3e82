"""What may be asked and told: bodies of REST and arguments of tools, with the fields of the services of the same name.

Stamps are seconds since 1970, or of the simulated clock: a JavaScript number does not hold nanoseconds.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from memory_node.domain.geometry import POSITION_LIMIT_M
from memory_node.domain.states import ObjectState

LONGEST_WAIT_S = 60.0
Metres = Annotated[float, Field(ge=-POSITION_LIMIT_M, le=POSITION_LIMIT_M, allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=4000)]
Name = Annotated[str, Field(max_length=200)]
Concept = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
Count = Annotated[int, Field(ge=0, le=100)]
Tokens = Annotated[int, Field(ge=50, le=20_000)]
Seconds = Annotated[float, Field(ge=0.0, le=9.2e9, allow_inf_nan=False)]
Wait = Annotated[float, Field(ge=0.0, le=LONGEST_WAIT_S, allow_inf_nan=False)]
Position = Annotated[list[Metres], Field(min_length=3, max_length=3)]


def _not_text(value: object) -> object:
    """Return the value of a whole number, which may be written 5.0, but not "5"."""
    if isinstance(value, (str, bool)):
        raise ValueError("expected a whole number")
    return value


BodyCount = Annotated[Count, Field(strict=False), BeforeValidator(_not_text)]
BodyTokens = Annotated[Tokens, Field(strict=False), BeforeValidator(_not_text)]
# In strict models, too, it comes as a text.
State = Annotated[ObjectState, Field(strict=False)]
States = Annotated[list[State], Field(max_length=20)]


class Request(BaseModel):
    """What is asked; a field that it does not have is refused, and so is a text in the place of a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class RecallObjects(Request):
    """srv/RecallObjects; empty fields do not restrict."""

    text: Text = Field("", description='what is meant, in words ("the red fruit") or by its class')
    object_class: Name = Field("", description="things of this class alone")
    states: States = Field([], description="things alone that are so")
    position: Position | None = Field(None, description="(x, y, z) in map, metres: what is near comes first")
    k: BodyCount = Field(5, description="how many answers at most")


class FindObjects(RecallObjects):
    """srv/FindObjects."""

    area_id: Name = Field("", description="things in this area alone")
    as_of_s: Seconds = Field(0.0, description="as of this stamp; 0: now")


class LocateObject(RecallObjects):
    """srv/LocateObject."""

    area_id: Name = Field("", description="things in this area alone")
    max_areas: BodyCount = Field(5, description="how many places to look at most; 0: memory's own number")
    exclude_ids: Annotated[list[Name], Field(max_length=1000)] = Field([], description="things that are not meant")
    exclude_supports: Annotated[list[Name], Field(max_length=1000)] = Field(
        [], description="ids of things on or in which it is not"
    )


class RankSearchAreas(Request):
    """srv/RankSearchAreas."""

    object_class: Concept = Field(description="what is looked for")
    k: BodyCount = Field(0, description="how many places at most; 0: memory's own number")


class AskMemory(Request):
    """srv/AskMemory."""

    question: Words = Field(description="a question in plain words")
    mode: Literal["", "episodic", "semantic", "procedural"] = Field(
        "", description="what happened, what is so, or how something is done; empty: found out from the question"
    )
    k: BodyCount = Field(0, description="how many statements at most; 0: memory's own number")
    as_of_s: Seconds = Field(0.0, description="answered as memory would have at this stamp; 0: now")


class GetContext(Request):
    """srv/GetContext."""

    instruction: Text = Field(description="what the robot is to do, in plain words")
    token_budget: BodyTokens = Field(2000, description="how long the text may be, in tokens")
    episode_id: Name = Field("", description="of the running episode that it is for; empty: none")


class SceneText(Request):
    """srv/GetSceneGraph, in words."""

    token_budget: BodyTokens = Field(2000, description="how long the text may be, in tokens")


class Contents(Request):
    """What is in or on something."""

    place: Concept = Field(description='a room or a thing, by name: "fridge", "Side table 2", "bedroom"')


# What the verb `changes` reads, as a pattern.
_SINCE: dict[str, JsonValue] = {
    "pattern": r"^(today|yesterday|this (morning|afternoon|evening)|last night|\d{1,6}(\.\d{1,3})? ?(s|min|h|d)( ago)?|"
    r"[1-9]\d{3}-(0[1-9]|1[0-2])-([0-2][1-9]|10|20|30|31)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?)?)$"
}


class Changes(Request):
    """What has changed since a moment."""

    since: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)] = Field(
        "today", description='"today", "this morning", "90 min", "2 h", or an ISO time', json_schema_extra=_SINCE
    )


class Episodes(Request):
    """What the robot was told to do."""

    newest: BodyCount = Field(10, description="how many at most")


class OneObject(Request):
    """One thing."""

    object_id: Concept = Field(description='its id or name ("Mug 2"), however it is spelt')


class Edit(Request):
    """Every edit."""

    wait_s: Wait = Field(0.0, description="it is carried out so many seconds later; undo calls it off until then")


_NAMED_BY_ID: JsonValue = {"required": ["object_id"], "properties": {"object_id": {"pattern": r"\S"}}}
_NAMED_BY_CLASS: JsonValue = {"required": ["object_class"], "properties": {"object_class": {"pattern": r"\S"}}}


_HELD_AND_PUT: JsonValue = {
    "required": ["held", "support"],
    "properties": {"held": {"const": True}, "support": {"minLength": 1}},
}


class Remember(Edit):
    """One change of srv/Remember (msg/StateChange), told by a person; object_id or object_class names the thing."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [_NAMED_BY_ID, _NAMED_BY_CLASS], "not": _HELD_AND_PUT})

    object_class: Name = Field("", description="its class; needed where there is no object_id")
    object_id: Name = Field("", description='its id or name ("Mug 2"); empty: the only one of its class, or a new one')
    added: States = Field([], description="states that it is in now")
    removed: States = Field([], description="states that it is no longer in")
    held: bool = Field(False, description="the robot's hand holds it now")
    support: Name = Field("", description='id or name of what it was put on or in ("Side table 2"); empty: none')
    inside: bool = Field(False, description="it is in `support`, not on it")
    position: Position | None = Field(None, description="where it is: (x, y, z) in map, metres")

    @model_validator(mode="after")
    def _is_at_one_place(self) -> Remember:
        if self.support and self.held:
            raise ValueError("support, held: expected one of them, got both")
        return self


class MoveObject(Edit):
    """An object is somewhere else: srv/Remember with a position alone."""

    object_id: Concept = Field(description="its id or name")
    position: Position = Field(description="(x, y, z) in map, metres")


def _when(operations: tuple[str, ...], field: str, **filled: str) -> JsonValue:
    """Return: where the operation is one of these, a field is there."""
    needed: JsonValue = {"required": [field], "properties": {field: {**filled}}}
    return {"if": {"properties": {"operation": {"enum": list(operations)}}}, "then": needed}


# Of srv/EditObject: these operations need a name.
_NAMED = ("relabel", "call", "name_room")


class EditObject(Edit):
    """srv/EditObject."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [_when(_NAMED, "new_class", pattern=r"\S"), _when(("split",), "position", type="array")]
        }
    )

    operation: Literal["relabel", "call", "merge", "split", "delete", "restore", "name_room"] = Field(
        description="merge: other_id is the same thing; split: the second one is at `position`"
    )
    object_id: Concept = Field(description="id or name; of a room its id")
    other_id: Name = Field("", description="of a merge: the id or name of the other one")
    new_class: Name = Field("", description="the class, the name, or the room's name")
    position: Position | None = Field(None, description="of a split: (x, y, z) in map, metres")

    @model_validator(mode="after")
    def _is_whole(self) -> EditObject:
        if self.operation in _NAMED and not self.new_class.strip():
            raise ValueError(f"new_class: {self.operation} needs a name, got a blank one")
        if self.operation == "split" and self.position is None:
            raise ValueError("position: expected where the second thing is, got none")
        return self


class TellFact(Edit):
    """srv/TellFact."""

    text: Words = Field(description='a fact in plain words: "Anna likes black tea"')
    teller: Name = Field("", description='who said it, for "I" and "my"')


class RetractFact(Edit):
    """A statement counts no longer."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=4000)] = Field(
        description="the statement, in the words in which memory tells it"
    )


class DeleteDocument(Edit):
    """What was read goes."""

    document: Concept = Field(description="a file's name, or a document, talk or episode as sources name it")


class Forget(Edit):
    """srv/Forget, of one object."""

    object_id: Concept = Field(description="its id or name")


class ConfirmRelocalization(Edit):
    """srv/ConfirmRelocalization, where the map has not moved."""


class Undo(Request):
    """An edit is taken back."""

    edit_id: Name = Field("", description="which one; empty: the last of your own that can be taken back")


class CarryOut(Request):
    """action/ExecuteInstruction."""

    instruction: Words = Field(description='in plain words: "bring me the apple"')


class TaskOf(Request):
    """How far an instruction is."""

    task_id: Concept = Field(description="as carry_out told it")
    wait_s: Annotated[float, Field(ge=0.0, le=30.0, allow_inf_nan=False)] = Field(
        0.0, description="waits at most so long for its end, in seconds"
    )


class Cancel(Request):
    """The robot stops."""

    task_id: Concept = Field(description="as carry_out told it")
