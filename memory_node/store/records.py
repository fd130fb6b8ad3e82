"""The store's own records besides the domain's values, and the form of rows in a batch."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.scene import Area, Floor, Relation, Room, SceneEvent, SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.step import EpisodeSummary, StepRecord


def with_bytes_packed(value: Any) -> Any:
    """Return a value of a row as JSON holds it."""
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def with_bytes_unpacked(value: Any) -> Any:
    """Return what `with_bytes_packed` was given.

    Raises:
        ValueError: what stands for bytes is no base64.
    """
    if isinstance(value, dict) and set(value) == {"base64"}:
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (ValueError, TypeError) as error:
            raise ValueError(f"expected base64: {error}") from error
    return value


Row = dict[str, Any]
# table -> primary key without site -> row; what one commit writes.
Batch = dict[str, dict[tuple[Any, ...], Row]]


@dataclass(frozen=True)
class Document:
    """A learned thing in the form its layer chose: a lesson, a proposition.

    sources: what it was learned from, as (kind, id): ("step", step_key(...)), ("episode", id), ("object", id), or
    another document's (kind, id). removed: it was given up; it stays as a mark for other robots.
    """

    kind: str
    id: str
    body: Mapping[str, Any]
    stamp_ns: int = 0
    sources: tuple[tuple[str, str], ...] = ()
    removed: bool = False

    def __post_init__(self) -> None:
        if not self.kind or not self.id:
            raise InvalidValueError(f"Document: expected a kind and an id, got {self.kind!r} and {self.id!r}")


@dataclass(frozen=True)
class Removed:
    """An area, room, floor or relation that the map no longer has."""

    record: Area | Room | Floor | Relation


@dataclass(frozen=True)
class Belief:
    """One robot's view of one object; merged_into: the object that it turned out to be, or ""."""

    robot_id: str
    object: SceneObject
    merged_into: str = ""


@dataclass(frozen=True)
class StoreChange:
    """What other robots, or another process, brought since the last look.

    objects: merged over all robots. gone: ids of objects that were forgotten or merged into others. forgotten: digests
    of all that was forgotten, see `tombstones.tombstone_of`.
    """

    revision: int
    objects: tuple[SceneObject, ...] = ()
    gone: tuple[str, ...] = ()
    forgotten: frozenset[str] = frozenset()
    floors: tuple[Floor, ...] = ()
    rooms: tuple[Room, ...] = ()
    areas: tuple[Area, ...] = ()
    relations: tuple[Relation, ...] = ()
    removed: tuple[Removed, ...] = ()
    episodes: tuple[EpisodeSummary, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    documents: tuple[Document, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self) if field.name != "revision")


Recordable = (
    SceneEvent | StepRecord | EpisodeSummary | StateChange | Area | Room | Floor | Relation | Removed | Document
)


def step_key(episode_id: str, index: int) -> str:
    """Return the id under which provenance names a step."""
    return f"{episode_id}:{index}"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"a {type(value).__name__} cannot be stored")


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=_plain).encode


def to_json(value: Any) -> str:
    """Return compact JSON, in plain text so that a search of the file finds names; numpy values become plain ones.

    Raises:
        InvalidValueError: something in it has no JSON form (NaN included).
    """
    try:
        return _encode(value)
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"cannot be stored as JSON: {error}") from error
