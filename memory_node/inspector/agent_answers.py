"""What agents are answered: plain values with the names and units of the ROS messages, as pydantic models."""

from __future__ import annotations

from pydantic import BaseModel, Field

from memory_node.domain.answer import ObjectAnswer, RankedArea
from memory_node.domain.scene import SceneSnapshot
from memory_node.knowledge.answering import KnowledgeAnswer


class FoundObject(BaseModel):
    """One remembered thing."""

    object_id: str
    object_class: str
    class_probability: float
    position_m: list[float] = Field(description="centre (x, y, z) in the frame `frame_id`, in metres")
    frame_id: str
    room: str
    area_id: str
    support_id: str = Field(description="the object that it stands on or in; empty: none is known")
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

    answer: str = Field(description="in words; null where memory abstains")
    abstains: bool
    confidence: float
    rests_on: list[str] = Field(description="the statements behind the answer, best first")


def known(answer: KnowledgeAnswer) -> Known:
    """Return an answer from knowledge as an agent gets it."""
    return Known(
        answer=answer.text,
        abstains=answer.abstains,
        confidence=round(answer.confidence, 4),
        rests_on=[one.text for one in answer.propositions],
    )


def found_object(answer: ObjectAnswer) -> FoundObject:
    """Return an answer of memory as an agent gets it."""
    return FoundObject(
        object_id=answer.object_id,
        object_class=answer.object_class,
        class_probability=round(answer.class_probability, 4),
        position_m=[round(float(value), 3) for value in answer.position],
        frame_id=answer.frame_id,
        room=answer.room_name,
        area_id=answer.area_id,
        support_id=answer.support_id,
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
