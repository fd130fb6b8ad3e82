"""What REST takes and gives: the fields of the services of the same name, as pydantic models.

Stamps are seconds since 1970, or of the simulated clock: a JavaScript number does not hold nanoseconds.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from memory_node.domain.geometry import POSITION_LIMIT_M
from memory_node.domain.states import ObjectState
from memory_node.inspector.agent_answers import FoundObject, PlaceToLook
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


class Request(BaseModel):
    """A body; what it has no field for is refused."""

    model_config = ConfigDict(extra="forbid")


class RecallObjects(Request):
    """srv/RecallObjects; empty fields do not restrict."""

    text: Text = ""
    object_class: Name = ""
    states: Annotated[list[ObjectState], Field(max_length=20)] = []
    position: Position | None = None
    k: Count = 5


class FindObjects(RecallObjects):
    """srv/FindObjects."""

    area_id: Name = ""
    as_of_s: Seconds = 0.0


class LocateObject(RecallObjects):
    """srv/LocateObject."""

    area_id: Name = ""
    max_areas: Count = 0
    exclude_ids: Annotated[list[Name], Field(max_length=1000)] = []
    exclude_supports: Annotated[list[Name], Field(max_length=1000)] = []


class RankSearchAreas(Request):
    """srv/RankSearchAreas."""

    object_class: Concept
    k: Count = 0


class AskMemory(Request):
    """srv/AskMemory."""

    question: Words
    mode: Literal["", "episodic", "semantic", "procedural"] = ""
    k: Count = 0


class GetContext(Request):
    """srv/GetContext."""

    instruction: Text
    token_budget: Tokens = 2000
    episode_id: Name = ""


class Edit(Request):
    """Every edit. wait_s: it is carried out so much later, and may be called off until then."""

    wait_s: Wait = 0.0


class Remember(Edit):
    """One change of srv/Remember (msg/StateChange), told by a person; object_id or object_class names the thing."""

    object_class: Name = ""
    object_id: Name = ""
    added: Annotated[list[ObjectState], Field(max_length=20)] = []
    removed: Annotated[list[ObjectState], Field(max_length=20)] = []
    support: Name = ""
    inside: bool = False
    position: Position | None = None


class MoveObject(Edit):
    """An object is somewhere else: srv/Remember with a position alone."""

    object_id: Concept
    position: Position


class EditObject(Edit):
    """srv/EditObject."""

    operation: Literal["relabel", "call", "merge", "split", "delete", "restore", "name_room"]
    object_id: Concept
    other_id: Name = ""
    new_class: Name = ""
    position: Position = [0.0, 0.0, 0.0]

    @model_validator(mode="after")
    def _is_named(self) -> EditObject:
        if self.operation in ("relabel", "call", "name_room") and not self.new_class.strip():
            raise ValueError(f"new_class: {self.operation} needs a name, got a blank one")
        return self


class TellFact(Edit):
    """srv/TellFact."""

    text: Words
    teller: Name = ""


class RetractFact(Edit):
    """A statement, in the words in which memory tells it, counts no longer."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class Forget(Edit):
    """srv/Forget, of one object."""

    object_id: Concept


class ConfirmRelocalization(Edit):
    """srv/ConfirmRelocalization, where the map has not moved."""


class RankedObject(FoundObject):
    """An answer with what ranks it."""

    score: float = Field(description="relevance to the question, 0 to 1; answers come in this order")
    source: str = Field(description="short_term or long_term")
    why: list[str] = Field(description="what speaks for it and against it, in words")


class RankedObjects(BaseModel):
    """Answers, best first; none where memory abstains. status and explanation say why."""

    status: str
    explanation: str
    objects: list[RankedObject]


class LocatedObjects(RankedObjects):
    """Where a thing is, or where to look for it."""

    areas: list[PlaceToLook]


class Statement(BaseModel):
    """A proposition. sources: the steps that showed or said it; made_by: what read it out of them."""

    text: str
    told: bool = Field(description="a person told it")
    teller: str = Field(description="who told it, or what its document is about; empty: unknown")
    concepts: list[str]
    sources: list[str]
    support: int
    stamp_s: float
    active: bool
    made_by: str


class Answer(BaseModel):
    """What is known of a question."""

    answer: str | None = Field(description="in words; null where nothing is known at all")
    abstains: bool = Field(description="memory does not know; the answer then says what it does not know")
    confidence: float
    mode: str
    object_ids: list[str] = Field(description="the things that the answer is about")
    propositions: list[Statement]


class ObjectRow(BaseModel):
    """What is drawn and listed of an object."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    name: str = Field(description="short and unique in the site: Mug 2")
    object_class: str = Field(alias="class")
    p: float = Field(description="probability of the class")
    at: list[float] = Field(description="centre (x, y, z) in map, m")
    size: list[float] = Field(description="along its own x, y, z, m")
    yaw: float = Field(description="rad")
    sigma: float = Field(description="standard deviation of the centre along the worst axis, m")
    existence: float = Field(description="how likely it is still there, 0 to 1")
    area: str
    on: str = Field(description="id of what it stands on or in; empty: none is known")
    inside: bool
    seen_s: float = Field(description="stamp of when it was seen last, s")
    movable: bool
    removed: bool
    by: str = Field(description="who entered it: camera, skill, user")
    states: list[str]


class ObjectPage(BaseModel):
    """A page of the objects that are there, in order of birth."""

    version: int
    total: int
    offset: int
    objects: list[ObjectRow]


class FloorRow(BaseModel):
    """A floor."""

    id: str
    name: str
    height: float = Field(description="m")


class RoomRow(BaseModel):
    """A room."""

    id: str
    name: str
    floor_id: str
    at: list[float] = Field(description="(x, y) in map, m")
    m2: float


class AreaRow(BaseModel):
    """A place where the robot can stand."""

    id: str
    name: str
    room_id: str
    floor_id: str
    at: list[float] = Field(description="(x, y) in map, m")


class SceneGraph(BaseModel):
    """The scene graph; with `since`, what `changed` and which ids are `gone` instead, where that is known."""

    version: int
    stamp_s: float | None = None
    frame_id: str | None = None
    frame_verified: bool | None = None
    floors: list[FloorRow] | None = None
    rooms: list[RoomRow] | None = None
    areas: list[AreaRow] | None = None
    objects: list[ObjectRow] | None = None
    relations: list[list[str]] | None = Field(None, description="[source id, kind, target id]")
    changed: list[ObjectRow] | None = None
    gone: list[str] | None = None


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
    sections: list[Section]


class EditRecord(BaseModel):
    """What became of an edit."""

    id: str
    who: str
    what: str
    stamp_s: float
    state: Literal["waiting", "done", "undone", "failed"]
    undoable: bool
    ids: list[str] = Field(description="objects that carry on or are new; of a told fact its statements")
    due_s: float = Field(description="when it is carried out, where it waits")
    message: str


class Problem(BaseModel):
    """Why a request was refused."""

    message: str
