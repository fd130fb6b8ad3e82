"""Checks the values of a row before memory starts from it, so that all later arithmetic is safe."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import sqlalchemy as sa

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import POSITION_LIMIT_M as SITE_LIMIT_M
from memory_node.domain.scene import RelationKind, SceneEventKind
from memory_node.domain.skill import FailureReason
from memory_node.domain.states import StateBelief
from memory_node.store import schema

# Twice what the doors of memory take: places move with the map that they are in.
POSITION_LIMIT_M = 2.0 * SITE_LIMIT_M
# The largest stamp that a ROS message holds, and one more.
STAMP_END_NS = 2**31 * 1_000_000_000
# What 32 bits hold.
COUNT_LIMIT = 2**31 - 1
# What 16-bit floats hold.
EMBEDDING_LIMIT = 6e4
NAME_LIMIT = 1_000
TEXT_LIMIT = 1_000_000
# A probability may be the sum of rounded ones.
_CERTAIN = 1.0 + 1e-6
# Between two nodes of the map, and of what a robot drove in one step.
_FARTHEST_M = 10 * POSITION_LIMIT_M
_WAY_LIMIT_M = 1e9
BODY_KEYS = frozenset({"classes", "movable", "inside", "anchor", "provenance", "states", "attributes"})
# Rows of the first release lack them.
_LATER_KEYS = frozenset({"name", "aliases", "placed_ns"})
OBJECT_GEOMETRY = struct.Struct("<16d")
PLACE_GEOMETRY = struct.Struct("<7d")

# What comes of reading a row whose values are of other types than they should be.
UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, struct.error)


def check_names(**names: str) -> None:
    """Look whether a site, a robot or the like can be called so.

    Raises:
        InvalidValueError: a name is empty or too long, or has characters that cannot be printed.
    """
    for what, name in names.items():
        if not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
            raise InvalidValueError(
                f"{what}: expected a name of 1 to {NAME_LIMIT} characters that can be printed, "
                f"got {len(name)} characters {name[:40]!r}"
            )


def fault_of(table: str, row: Any) -> str:
    """Return what is wrong with the values of a row, "" when memory can start from it; row: columns as attributes."""
    try:
        if table in CHECKS:
            CHECKS[table](row)
    except UNREADABLE as error:
        return f"{error}" if isinstance(error, InvalidValueError) else f"{type(error).__name__}: {error}"
    return ""


def check_object(row: Any) -> dict[str, Any]:
    """Return what an object's body says, or raise one of UNREADABLE."""
    _check_box(OBJECT_GEOMETRY.unpack(row.geometry))
    _check_names(row.id, row.class_name, row.area_id, row.support_id, row.merged_into)
    _check_probability(row.existence)
    for stamp_ns in (row.first_seen_ns, row.last_seen_ns, row.last_missed_ns):
        _check_stamp(stamp_ns)
    for count in (row.times_seen, row.times_missed):
        _check_count(count)
    body = _json(row.body)
    _require(isinstance(body, dict) and body.keys() - _LATER_KEYS == BODY_KEYS, "the keys of its body", row.body)
    _check_body(body)
    return dict(body)


def _check_body(body: dict[str, Any]) -> None:
    classes = body["classes"]
    _require(isinstance(classes, dict) and bool(classes), "classes", classes)
    for name, probability in classes.items():
        _check_names(name)
        _check_probability(probability)
    for belief in map(StateBelief.of_row, body["states"]):
        _check_stamp(belief.confirmed_ns)
    _check_stamp(body.get("placed_ns", 0))
    flags = (body["movable"], body["inside"])
    _require(all(isinstance(flag, bool) for flag in flags), "movable and inside", flags)
    texts = (body["anchor"], body["provenance"], body.get("name", ""), *body.get("aliases", ()))
    _require(all(isinstance(text, str) for text in texts), "anchor, provenance and names", texts)
    _require(isinstance(body["attributes"], dict), "attributes", body["attributes"])


def _check_box(numbers: tuple[float, ...]) -> None:
    """Check a geometry: centre 3, size 3, yaw, and for an object the covariance 9."""
    total = sum(numbers)
    # NaN is not equal to itself.
    fits = total == total and min(numbers) >= -POSITION_LIMIT_M and max(numbers) <= POSITION_LIMIT_M
    _require(fits and min(numbers[3:6]) >= 0.0, "a box", numbers)


def _check_embedding(data: bytes) -> None:
    embedding = np.frombuffer(data, dtype="<f4")
    # Also false for NaN.
    _require(bool(np.all(np.abs(embedding) < EMBEDDING_LIMIT)), "an embedding", "numbers that no embedding has")


def check_step_numbers(stamp_ns: int, x: float, y: float, z: float, duration_s: float, distance_m: float) -> None:
    """Check the numbers of a step; raise one of UNREADABLE."""
    _check_stamp(stamp_ns)
    # Also false for NaN.
    fits = abs(x) <= POSITION_LIMIT_M and abs(y) <= POSITION_LIMIT_M and abs(z) <= POSITION_LIMIT_M
    fits = fits and abs(duration_s) <= STAMP_END_NS * 1e-9 and abs(distance_m) <= _WAY_LIMIT_M
    _require(fits, "position, duration and distance", (x, y, z, duration_s, distance_m))


def check_names_json(text: str) -> tuple[str, ...]:
    """Return the texts of a JSON list; raise one of UNREADABLE."""
    values = _json(text)
    _require(isinstance(values, list) and all(isinstance(value, str) for value in values), "a list of texts", text)
    return tuple(values)


def _check_names(*names: str) -> None:
    for name in names:
        if len(name) > NAME_LIMIT or not isinstance(name, str):
            raise InvalidValueError(f"expected a name of at most {NAME_LIMIT} characters, got {str(name)[:40]!r}...")


def _check_stamp(stamp_ns: int) -> None:
    if not isinstance(stamp_ns, int) or not 0 <= stamp_ns < STAMP_END_NS:
        raise InvalidValueError(f"expected a stamp from 0 to {STAMP_END_NS} ns, got {stamp_ns}")


def _number(low: float, high: float) -> Callable[[Any], None]:
    def check(number: float) -> None:
        # Also false for NaN.
        if not low <= number <= high:
            raise InvalidValueError(f"expected a number from {low:g} to {high:g}, got {number}")

    return check


_check_position = _number(-POSITION_LIMIT_M, POSITION_LIMIT_M)
_check_probability = _number(0.0, _CERTAIN)
_check_count = _number(0, COUNT_LIMIT)


def _require(fits: bool, what: str, value: Any) -> None:
    if not fits:
        raise InvalidValueError(f"{what}: got {str(value)[:80]}")


def _json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise InvalidValueError(f"JSON: expected finite numbers, got {name}")

    return json.loads(text, parse_constant=refuse)


def _check_body_of_record(text: str) -> None:
    _require(isinstance(_json(text), dict), "a body", text)


def _one_of(*values: Any) -> Callable[[Any], None]:
    return lambda value: _require(value in values, "expected one that is known", value)


def _text(longest: int, shortest: int = 0) -> Callable[[Any], None]:
    what = f"expected {shortest} to {longest} characters"
    return lambda text: _require(isinstance(text, str) and shortest <= len(text) <= longest, what, text)


# What the values of a column must be like, by its name, and where one table's is another.
_COLUMNS: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(
        ("object_id", "area_id", "support_id", "into_id", "id", "name", "floor_id", "room_id"), _check_names
    ),
    **dict.fromkeys(("source_id", "target_id", "task_type", "robot_id", "episode_id", "kind"), _check_names),
    **dict.fromkeys(("held_object", "room", "area"), _check_names),
    **dict.fromkeys(("since_ns", "until_ns", "stamp_ns", "started_ns", "ended_ns", "last_viewed_ns"), _check_stamp),
    **dict.fromkeys(("x", "y", "z", "height_m"), _check_position),
    **dict.fromkeys(("attempt", "step_index"), _check_count),
    **dict.fromkeys(("instruction", "message"), _text(TEXT_LIMIT)),
    **dict.fromkeys(("arguments", "visible", "relations"), check_names_json),
    "geometry": lambda data: _check_box(PLACE_GEOMETRY.unpack(data)),
    "embedding": _check_embedding,
    "crop_jpeg": lambda data: _require(isinstance(data, bytes), "a picture", type(data).__name__),
    "body": _check_body_of_record,
    "area_m2": _number(0.0, POSITION_LIMIT_M**2),
    "probability": _check_probability,
    "skill": _text(NAME_LIMIT, 1),
    "reason": _one_of(*(reason.value for reason in FailureReason)),
    "duration_s": _number(-STAMP_END_NS * 1e-9, STAMP_END_NS * 1e-9),
}
_OF_TABLE: dict[str, dict[str, Callable[[Any], object]]] = {
    "events": {"kind": _one_of(*(kind.value for kind in SceneEventKind))},
    "relations": {"kind": _one_of(*(kind.value for kind in RelationKind)), "distance_m": _number(0, _FARTHEST_M)},
    "episodes": {"success": _one_of(None, False, True)},
    "steps": {"distance_m": _number(-_WAY_LIMIT_M, _WAY_LIMIT_M)},
    "documents": {"id": _text(TEXT_LIMIT, 1)},
    "supports": dict.fromkeys(("record_kind", "record_id", "source_kind", "source_id"), _text(TEXT_LIMIT)),
}


def _checks_of(table: sa.Table) -> Callable[[Any], object]:
    checks = {**_COLUMNS, **_OF_TABLE.get(table.name, {})}
    chosen = [(column.name, checks[column.name]) for column in table.c if column.name in checks]

    def check(row: Any) -> None:
        for name, fits in chosen:
            try:
                fits(getattr(row, name))
            except InvalidValueError as error:
                raise InvalidValueError(f"{name}: {error}") from error

    return check


def _check_revision(row: Any) -> None:
    _require(row.revision + row.revision_check == 0, "the site's revision and its guard", row.revision)


CHECKS = {table.name: check_object if table is schema.objects else _checks_of(table) for table in schema.LOGGED}
CHECKS["sites"] = _check_revision
