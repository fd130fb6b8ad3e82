"""What the page shows beside answers, as pydantic models. Stamps are seconds, as in `requests`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memory_node.inspector.answers import ContextText, Cost


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


class About(BaseModel):
    """Which memory this is, and what the caller may do."""

    source: str
    images: bool = Field(description="pictures are shown")
    name: str = Field(description="the caller's")
    role: Literal["read", "edit", "forget"]


class Timeline(BaseModel):
    """From when to when there is something to see, and the moments of changes in order."""

    begin_s: float
    end_s: float
    moments: list[float]


class MovedRow(ObjectRow):
    """An object that is elsewhere than before."""

    was_at: list[float] = Field(alias="from", description="centre (x, y, z) before, m")


class SceneChanges(BaseModel):
    """What came, went and moved between two moments."""

    appeared: list[ObjectRow]
    gone: list[ObjectRow]
    moved: list[MovedRow]


class ClassShare(BaseModel):
    """A class with its probability."""

    name: str
    p: float


class Belief(BaseModel):
    """A state that is believed."""

    state: str
    p: float
    confirmed_s: float
    by: str


class EarlierPlace(BaseModel):
    """Where an object was for a while."""

    since_s: float
    until_s: float
    at: list[float]
    area: str
    on: str


class EditOfObject(BaseModel):
    """An edit that was made here."""

    who: str
    what: str
    stamp_s: float


class ObjectCard(ObjectRow):
    """All that is known of an object; now_s: the moment that is told of."""

    classes: list[ClassShare]
    covariance_m2: list[list[float]]
    first_seen_s: float
    last_missed_s: float
    times_seen: int
    times_missed: int
    anchor: str
    beliefs: list[Belief]
    history: list[EarlierPlace]
    now_s: float
    edits: list[EditOfObject]


class CachedRow(BaseModel):
    """A unit of the short-term memory."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    object_class: str = Field(alias="class")
    used_s: float
    by: str
    segment: str
    pinned: bool


class Cache(BaseModel):
    """The short-term memory, what its policy would evict next first."""

    figures: dict[str, float | str]
    units: list[CachedRow]
    hits: list[list[float]] = Field(description="[stamp in seconds, hit ratio], the newest last")


class EpisodeRow(BaseModel):
    """An instruction and how it ended; success null: it runs, or nobody can say."""

    id: str
    instruction: str
    task_type: str
    started_s: float
    ended_s: float
    success: bool | None
    attempt: int
    robot: str


class EpisodeList(BaseModel):
    """The newest episodes; told: whether this memory tells episodes; running: the running one's last steps in words."""

    told: bool
    episodes: list[EpisodeRow]
    running: str


class StepRow(BaseModel):
    """A step with memory's warnings."""

    index: int
    action: str
    success: bool
    reason: str
    message: str
    stamp_s: float
    room: str
    held: str
    duration_s: float
    warnings: list[str]


class CompiledRow(BaseModel):
    """What was delivered at a step."""

    delivery: str
    guidance: str
    reason: str
    state: list[str]
    changes: list[str]
    ms: float
    problem: str


class SentContext(ContextText):
    """A context as a planner was sent it, and the steps that it chose by it."""

    instruction: str
    stamp_s: float
    steps: list[int]


class LessonRow(BaseModel):
    """What experience advises."""

    text: str
    kind: str
    helped: float
    tried: int


class EpisodeDetail(BaseModel):
    """What an episode took so far, its steps, guidance by step, prompts, and the lessons that it used and taught."""

    cost: Cost
    steps: list[StepRow]
    compiled: list[CompiledRow]
    prompts: list[SentContext]
    used: list[LessonRow]
    guidelines: list[LessonRow]
