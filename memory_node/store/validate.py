"""Looks at rows that come from outside: shape, types, and whether the domain would accept them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import sqlalchemy as sa

from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Place, RelationKind, SceneEventKind, SceneObject
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import StateBelief
from memory_node.store.errors import InvalidImportError
from memory_node.store.images import ImageFolder
from memory_node.store.records import Row

_BODY = {"classes", "movable", "inside", "anchor", "provenance", "states", "attributes"}
_MAX_TEXT = 1_000_000
# What no database takes as text.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_INT64 = 2**63


def check_row(table: sa.Table, row: Any, images: ImageFolder) -> Row:
    """Return the row if the table and the domain can hold it.

    Raises:
        InvalidImportError: it says which value was expected and what came.
    """
    if not isinstance(row, dict):
        raise InvalidImportError(f"{table.name}: expected an object, got {type(row).__name__}")
    names = {column.name for column in table.c}
    if set(row) != names:
        missing, unknown = sorted(names - set(row)), sorted(set(row) - names)
        raise InvalidImportError(f"{table.name}: missing {missing or 'nothing'}, unknown {unknown or 'nothing'}")
    for column in table.c:
        _check_value(table, column, row[column.name])
    try:
        if table.name in _CHECKS:
            _CHECKS[table.name](row, images)
    except RobotMemoryError as error:
        raise InvalidImportError(f"{table.name}: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidImportError(f"{table.name}: {type(error).__name__}: {error}") from error
    return row


def _check_value(table: sa.Table, column: sa.Column, value: Any) -> None:
    where = f"{table.name}.{column.name}"
    if value is None:
        if not column.nullable:
            raise InvalidImportError(f"{where}: expected a value, got null")
        return
    expected = column.type.python_type
    fits = isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
    if expected is float and type(value) is int:
        fits = True
    if not fits:
        raise InvalidImportError(f"{where}: expected {expected.__name__}, got {type(value).__name__}")
    if expected is float and not math.isfinite(value):
        raise InvalidImportError(f"{where}: expected a finite number, got {value}")
    if expected is int and not -_INT64 <= value < _INT64:
        raise InvalidImportError(f"{where}: expected a 64-bit number, got {value}")
    if expected is str and (len(value) > _MAX_TEXT or _UNSTORABLE.search(value)):
        raise InvalidImportError(f"{where}: expected text of at most {_MAX_TEXT} characters without NUL and surrogates")


def _numbers(data: bytes, count: int) -> np.ndarray:
    if len(data) != 8 * count:
        raise InvalidValueError(f"geometry: expected {8 * count} bytes, got {len(data)}")
    return np.frombuffer(data, dtype="<f8")


def _json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise InvalidValueError(f"JSON: expected finite numbers, got {name}")

    return json.loads(text, parse_constant=refuse)


def _check_object(row: Row, images: ImageFolder) -> None:
    numbers = _numbers(row["geometry"], 16)
    body = _json(row["body"])
    if not isinstance(body, dict) or set(body) != _BODY:
        raise InvalidValueError(f"body: expected the keys {sorted(_BODY)}")
    scene_object = SceneObject(
        id=row["id"],
        class_probabilities={str(name): float(p) for name, p in body["classes"].items()},
        box=OrientedBox(numbers[0:3], numbers[3:6], float(numbers[6])),
        covariance=numbers[7:16].reshape(3, 3),
        existence=row["existence"],
        first_seen_ns=row["first_seen_ns"],
        last_seen_ns=row["last_seen_ns"],
        states=tuple(map(StateBelief.of_row, body["states"])),
    )
    if not scene_object.id:
        raise InvalidValueError("expected an id, got an empty string")
    if any(not 0.0 <= p <= 1.0 for p in scene_object.class_probabilities.values()):
        raise InvalidValueError(f"object {scene_object.id}: expected class probabilities from 0 to 1")
    if scene_object.class_name != row["class_name"]:
        raise InvalidValueError(f"object {scene_object.id}: class_name {row['class_name']!r} is not the most probable")
    if not np.allclose(numbers[0:3], [row["x"], row["y"], row["z"]]):
        raise InvalidValueError(f"object {scene_object.id}: position and geometry differ")
    if not isinstance(body["attributes"], dict):
        raise InvalidValueError(f"object {scene_object.id}: expected attributes by name")
    image_path = body["attributes"].get("image_path", "")
    if image_path:
        images.resolve(str(image_path))


def _check_place(row: Row, _images: ImageFolder) -> None:
    numbers = _numbers(row["geometry"], 7)
    Place(row["since_ns"], row["until_ns"], OrientedBox(numbers[0:3], numbers[3:6], float(numbers[6])), row["area_id"])


def _check_appearance(row: Row, _images: ImageFolder) -> None:
    if len(row["embedding"]) % 4 or not np.isfinite(np.frombuffer(row["embedding"], dtype="<f4")).all():
        raise InvalidValueError(f"embedding of {row['object_id']}: expected finite float32 numbers")


def _check_step(row: Row, _images: ImageFolder) -> None:
    for name in ("arguments", "visible", "relations"):
        values = _json(row[name])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise InvalidValueError(f"{name}: expected a list of texts")
    SkillCall(row["skill"])
    FailureReason(row["reason"])


def _check_event(row: Row, _images: ImageFolder) -> None:
    SceneEventKind(row["kind"])


def _check_relation(row: Row, _images: ImageFolder) -> None:
    RelationKind(row["kind"])


def _check_body(row: Row, _images: ImageFolder) -> None:
    if not isinstance(_json(row["body"]), dict):
        raise InvalidValueError("body: expected a JSON object")


_CHECKS: dict[str, Callable[[Row, ImageFolder], None]] = {
    "objects": _check_object,
    "places": _check_place,
    "appearances": _check_appearance,
    "steps": _check_step,
    "documents": _check_body,
    "state_changes": _check_body,
    "events": _check_event,
    "relations": _check_relation,
}
