"""What agents are answered: plain values with the names and units of the ROS messages, as pydantic models."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from memory_node.domain.answer import ObjectAnswer, RankedArea
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.step import EpisodeSummary
from memory_node.inspector.household import Answered
from memory_node.questions.thing_words import BELIEVED, ThingWords


class FoundObject(BaseModel):
    """One remembered thing."""

    object_id: str
    object_class: str
    class_probability: float
    position_m: list[float] = Field(description="centre (x, y, z) in the frame `frame_id`, in metres")
    frame_id: str
    room: str | None
    area_id: str | None
    support_id: str | None = Field(description="the object that it stands on or in; null: none is known")
    inside: bool
    states: list[str]
    existence: float = Field(description="how likely it is still there, 0 to 1")
    age_s: float = Field(description="seconds since it was last seen")
    status: str = Field(description="OK, or why the answer is doubtful")
    explanation: str


class Found(BaseModel):
    """Answers, best first; none where memory abstains. status and explanation say why."""

    status: str
    explanation: str
    objects: list[FoundObject]


class PlaceToLook(BaseModel):
    """A place where a thing is likely."""

    area_id: str
    name: str
    position_m: list[float] = Field(description="(x, y) in map, in metres")
    probability: float
    reason: str


class Located(Found):
    """Where a thing is, or where to look for it."""

    places_to_look: list[PlaceToLook]


class Known(BaseModel):
    """What is known of a question."""

    answer: str | None = Field(description="in words; null where nothing is known at all")
    abstains: bool = Field(description="memory does not know; the answer then says what it does not know")
    confidence: float
    object_ids: list[str] = Field(description="the things that the answer is about")
    rests_on: list[str] = Field(description="the statements behind the answer, best first")


class Changes(BaseModel):
    """What changed since a moment."""

    changes: list[str] = Field(description="what came, went, moved and became of things, in words")


class Episode(BaseModel):
    """One instruction and how it ended."""

    episode_id: str
    instruction: str
    started: str = Field(description="local time, ISO 8601")
    ended: str | None = Field(description="null: it runs")
    success: bool | None = Field(description="null: it runs, or was given up")


class Episodes(BaseModel):
    """What the robot was told to do, the newest first."""

    episodes: list[Episode]


class Thing(BaseModel):
    """All that is known of one thing."""

    object_id: str
    name: str
    aliases: list[str]
    object_class: str
    where: str = Field(description="in words")
    position_m: list[float] = Field(description="centre (x, y, z) in map, in metres")
    size_m: list[float]
    room: str | None
    support_id: str | None = Field(description="the object that it stands on or in; null: none is known")
    support: str | None = Field(description="its name")
    inside: bool
    states: list[str]
    existence: float = Field(description="how likely it is still there, 0 to 1")
    is_there: bool = Field(description="false: it is gone, and this is where it was last")
    age_s: float = Field(description="seconds since it was last seen")
    on_or_in_it: list[str] = Field(description="names of what stands on it or in it")
    earlier_places: int = Field(description="how many are on record")


def known(answer: Answered) -> Known:
    """Return an answer as an agent gets it."""
    return Known(
        answer=answer.text or None,
        abstains=answer.abstains,
        confidence=round(answer.confidence, 4),
        object_ids=list(answer.ids),
        rests_on=[one.text for one in answer.propositions],
    )


def episode_of(episode: EpisodeSummary) -> Episode:
    """Return one episode as an agent gets it."""
    return Episode(
        episode_id=episode.id,
        instruction=episode.instruction,
        started=_clock_time(episode.started_ns),
        ended=_clock_time(episode.ended_ns) if episode.ended_ns else None,
        success=episode.success,
    )


def _clock_time(stamp_ns: int) -> str:
    return datetime.fromtimestamp(stamp_ns * 1e-9).isoformat(timespec="seconds")


def thing_of(found: SceneObject, scene: SceneSnapshot, words: ThingWords, now_ns: int) -> Thing:
    """Return one object as an agent gets it; scene: what stands where."""
    names = {one.id: one.name for one in scene.objects}
    return Thing(
        object_id=found.id,
        name=found.name,
        aliases=list(found.aliases),
        object_class=found.class_name,
        where=words.gone(found) if found.removed else words.whereabouts(found),
        position_m=[round(float(value), 3) for value in found.box.center],
        size_m=[round(float(value), 3) for value in found.box.size],
        room=words.room_of(found) or None,
        support_id=found.support_id or None,
        support=names.get(found.support_id),
        inside=found.inside,
        states=[str(belief.state) for belief in found.states if belief.probability >= BELIEVED],
        existence=round(found.existence, 4),
        is_there=not found.removed,
        age_s=round((now_ns - found.last_seen_ns) * 1e-9, 1),
        on_or_in_it=[one.name for one in scene.objects if one.support_id == found.id],
        earlier_places=len(found.history),
    )


def found_object(answer: ObjectAnswer) -> FoundObject:
    """Return an answer of memory as an agent gets it."""
    return FoundObject(
        object_id=answer.object_id,
        object_class=answer.object_class,
        class_probability=round(answer.class_probability, 4),
        position_m=[round(float(value), 3) for value in answer.position],
        frame_id=answer.frame_id,
        room=answer.room_name or None,
        area_id=answer.area_id or None,
        support_id=answer.support_id or None,
        inside=answer.inside,
        states=[str(belief.state) for belief in answer.states],
        existence=round(answer.existence, 4),
        age_s=round(answer.age_s, 1),
        status=str(answer.status),
        explanation=answer.explanation,
    )


def place_to_look(area: RankedArea) -> PlaceToLook:
    """Return a ranked area as an agent gets it."""
    return PlaceToLook(
        area_id=area.area_id,
        name=area.name,
        position_m=[round(float(value), 3) for value in area.position],
        probability=round(area.probability, 4),
        reason=area.reason,
    )


def scene_values(scene: SceneSnapshot) -> dict[str, object]:
    """Return a scene graph as plain values; removed things are left out."""
    return {
        "frame_id": scene.frame_id,
        "frame_verified": scene.frame_verified,
        "rooms": [{"id": room.id, "name": room.name, "floor_id": room.floor_id} for room in scene.rooms],
        "areas": [{"id": area.id, "name": area.name, "position_m": list(area.position)} for area in scene.areas],
        "objects": [
            {
                "id": found.id,
                "name": found.name,
                "class": found.class_name,
                "position_m": [round(float(value), 3) for value in found.box.center],
                "area_id": found.area_id,
                "support_id": found.support_id,
                "inside": found.inside,
                "states": [str(belief.state) for belief in found.states],
                "existence": round(found.existence, 4),
            }
            for found in scene.objects
            if not found.removed
        ],
    }
