"""The scene graph as the page is told it: short rows, so that 20,000 objects travel in a second. Stamps are seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field

from memory_node.domain.scene import Place, SceneObject, SceneSnapshot, moments_of
from memory_node.inspector.answers import At, Believed, Metres, Name, Row, Stamp, rounded, seconds, several

_MOST_MOMENTS = 20_000


def _sigma(covariance: Any) -> Any:
    """Return the standard deviation (m) of a centre along its worst axis; covariance: (3, 3)."""
    return float(np.sqrt(max(np.diag(covariance).max(), 0.0))) if isinstance(covariance, np.ndarray) else covariance


def _by_share(classes: Any) -> Any:
    """Return the classes of an object with their probabilities, the likeliest first."""
    if not isinstance(classes, dict):
        return classes
    return [ClassShare(name=name, p=share) for name, share in sorted(classes.items(), key=lambda entry: -entry[1])]


class ObjectRow(Row):
    """What is drawn and listed of an object."""

    id: str
    name: str = Field(description="short and unique in the site: Mug 2")
    object_class: Annotated[str, At("class_name")] = Field(alias="class")
    p: Annotated[float, At("class_probability"), rounded(3)] = Field(description="probability of the class")
    at: Annotated[Metres, At("box.center")] = Field(description="centre (x, y, z) in map, m")
    size: Annotated[Metres, At("box.size")] = Field(description="along its own x, y, z, m")
    yaw: Annotated[float, At("box.yaw_rad"), rounded(3)] = Field(description="rad")
    sigma: Annotated[float, At("covariance"), rounded(3), BeforeValidator(_sigma)] = Field(
        description="standard deviation of the centre along the worst axis, m"
    )
    existence: Annotated[float, rounded(3)] = Field(description="how likely it is still there, 0 to 1")
    area: Annotated[str, At("area_id")]
    on: Annotated[str, At("support_id")] = Field(description="id of what it stands on or in; empty: none is known")
    inside: bool
    seen_s: Annotated[Stamp, At("last_seen_ns")] = Field(description="stamp of when it was seen last, s")
    movable: bool
    removed: bool
    by: Annotated[str, At("provenance")] = Field(description="who entered it: camera, skill, user")
    states: Believed


class ObjectPage(BaseModel):
    """A page of the objects that are there, in order of birth."""

    version: int
    total: int
    offset: int
    objects: list[ObjectRow]


class FloorRow(Row):
    """A floor."""

    id: str
    name: str
    height: Annotated[float, At("height_m"), rounded(3)] = Field(description="m")


class RoomRow(Row):
    """A room."""

    id: str
    name: str
    floor_id: str
    at: Annotated[Metres, At("center")] = Field(description="(x, y) in map, m")
    m2: Annotated[float, At("area_m2"), rounded(1)]


class AreaRow(Row):
    """A place where the robot can stand."""

    id: str
    name: str
    room_id: str
    floor_id: str
    at: Annotated[Metres, At("position")] = Field(description="(x, y) in map, m")


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


class Timeline(BaseModel):
    """From when to when there is something to see, and the moments of changes in order."""

    begin_s: float
    end_s: float
    moments: list[float]


class MovedRow(ObjectRow):
    """An object that is elsewhere than before."""

    was_at: Metres = Field(alias="from", description="centre (x, y, z) before, m")


class SceneChanges(BaseModel):
    """What came, went and moved between two moments."""

    appeared: list[ObjectRow]
    gone: list[ObjectRow]
    moved: list[MovedRow]


class ClassShare(BaseModel):
    """A class with its probability."""

    name: str
    p: Annotated[float, rounded(4)]


class Belief(Row):
    """A state that is believed."""

    state: Name
    p: Annotated[float, At("probability"), rounded(3)]
    confirmed_s: Annotated[Stamp, At("confirmed_ns")]
    by: Annotated[str, At("source")]


class EarlierPlace(Row):
    """Where an object was for a while."""

    since_s: Annotated[Stamp, At("since_ns")]
    until_s: Annotated[Stamp, At("until_ns")]
    at: Annotated[Metres, At("box.center")]
    area: Annotated[str, At("area_id")]
    on: Annotated[str, At("support_id")]


class EditOfObject(Row):
    """An edit that was made here."""

    who: str
    what: Annotated[str, At("words")]
    stamp_s: Annotated[Stamp, At("stamp_ns")]


class ObjectCard(ObjectRow):
    """All that is known of an object; now_s: the moment that is told of, by which ages are told."""

    classes: Annotated[list[ClassShare], At("class_probabilities"), BeforeValidator(_by_share)]
    covariance_m2: Annotated[
        list[list[float]],
        At("covariance"),
        BeforeValidator(lambda rows: [[round(float(value), 6) for value in row] for row in rows]),
    ]
    first_seen_s: Annotated[Stamp, At("first_seen_ns")]
    last_missed_s: Annotated[Stamp, At("last_missed_ns")]
    times_seen: int
    times_missed: int
    anchor: str
    beliefs: Annotated[list[Belief], At("states"), several(Belief)]
    history: Annotated[list[EarlierPlace], several(EarlierPlace)]
    now_s: Stamp
    edits: Annotated[list[EditOfObject], several(EditOfObject)]


def scene_rows(scene: SceneSnapshot) -> dict[str, Any]:
    """Return a snapshot, as JSON takes it: floors, rooms, areas, objects, relations."""
    return {
        "version": scene.version,
        "stamp_s": seconds(scene.stamp_ns),
        "frame_id": scene.frame_id,
        "frame_verified": scene.frame_verified,
        "floors": [FloorRow.plain(one) for one in scene.floors],
        "rooms": [RoomRow.plain(one) for one in scene.rooms],
        "areas": [AreaRow.plain(one) for one in scene.areas],
        "objects": [ObjectRow.plain(one) for one in scene.objects],
        "relations": [[one.source_id, str(one.kind), one.target_id] for one in scene.relations],
    }


def what_changed(before: Iterable[SceneObject], after: Iterable[SceneObject], least_m: float = 0.15) -> SceneChanges:
    """Return what came, went and moved by `least_m` or more between two snapshots."""
    then, now = {one.id: one for one in before}, {one.id: one for one in after}
    moved = [
        (then[key], found)
        for key, found in now.items()
        if key in then and float(np.linalg.norm(found.box.center - then[key].box.center)) >= least_m
    ]
    return SceneChanges(
        appeared=[ObjectRow.of(found) for key, found in now.items() if key not in then],
        gone=[ObjectRow.of(found) for key, found in then.items() if key not in now],
        moved=[MovedRow.of(found, was_at=was.box.center) for was, found in moved],
    )


def timeline(objects: Sequence[SceneObject], past: Sequence[Place] = ()) -> dict[str, Any]:
    """Return from when to when there is something to see, and the moments of changes in order.

    past: the objects' earlier places. Of very many moments those that lie close are one.
    """
    stamps = moments_of(objects, past)
    if not len(stamps):
        return {"begin_s": 0.0, "end_s": 0.0, "moments": []}
    step_ns = 1_000
    # The end of a step stands for it, and floats of this century are no finer than 256 ns: as of then, all is seen.
    while len(moments := np.unique((stamps // step_ns + 2) * step_ns)) > _MOST_MOMENTS:
        step_ns *= 10
    end = max(int(moments[-1]), max(one.last_seen_ns for one in objects))
    return {"begin_s": seconds(int(stamps[0])), "end_s": seconds(end), "moments": list(map(seconds, moments.tolist()))}
