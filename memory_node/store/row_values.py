"""Checks the values of a row before memory starts from it, so that all later arithmetic is safe."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import POSITION_LIMIT_M as SITE_LIMIT_M
from memory_node.domain.scene import RelationKind, SceneEventKind
from memory_node.domain.skill import FailureReason
from memory_node.domain.states import StateBelief

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
_KINDS = frozenset(kind.value for kind in RelationKind)
_EVENTS = frozenset(kind.value for kind in SceneEventKind)
_REASONS = frozenset(reason.value for reason in FailureReason)
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
    _require(0.0 <= row.existence <= _CERTAIN, "existence", row.existence)
    for stamp_ns in (row.first_seen_ns, row.last_seen_ns, row.last_missed_ns):
        _check_stamp(stamp_ns)
    for count in (row.times_seen, row.times_missed):
        _require(0 <= count <= COUNT_LIMIT, "a count", count)
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


def _check_place(row: Any) -> None:
    _check_box(PLACE_GEOMETRY.unpack(row.geometry))
    _check_stamp(row.since_ns)
    _check_stamp(row.until_ns)
    _check_names(row.object_id, row.area_id, row.support_id)


def _check_box(numbers: tuple[float, ...]) -> None:
    """Check a geometry: centre 3, size 3, yaw, and for an object the covariance 9."""
    total = sum(numbers)
    # NaN is not equal to itself.
    fits = total == total and min(numbers) >= -POSITION_LIMIT_M and max(numbers) <= POSITION_LIMIT_M
    _require(fits and min(numbers[3:6]) >= 0.0, "a box", numbers)


def _check_appearance(row: Any) -> None:
    embedding = np.frombuffer(row.embedding, dtype="<f4")
    # Also false for NaN.
    _require(bool(np.all(np.abs(embedding) < EMBEDDING_LIMIT)), "an embedding", "numbers that no embedding has")
    _require(isinstance(row.crop_jpeg, bytes), "a picture", type(row.crop_jpeg).__name__)
    _check_names(row.object_id)


def _check_event(row: Any) -> None:
    _require(row.kind in _EVENTS, "an event", row.kind)
    _check_stamp(row.stamp_ns)
    _check_names(row.object_id, row.into_id)


def _check_state_change(row: Any) -> None:
    _require(isinstance(_json(row.body), dict), "a body", row.body)
    _check_stamp(row.stamp_ns)
    _check_names(row.id, row.object_id)


def _check_floor(row: Any) -> None:
    _check_names(row.id, row.name)
    _check_position(row.height_m)


def _check_room(row: Any) -> None:
    _check_names(row.id, row.name, row.floor_id)
    _check_position(row.x, row.y)
    _require(0.0 <= row.area_m2 <= POSITION_LIMIT_M**2, "a room's area", row.area_m2)


def _check_area(row: Any) -> None:
    _check_names(row.id, row.name, row.floor_id, row.room_id)
    _check_position(row.x, row.y)
    _check_stamp(row.last_viewed_ns)


def _check_relation(row: Any) -> None:
    _require(row.kind in _KINDS, "a relation", row.kind)
    _check_names(row.source_id, row.target_id)
    _require(0.0 <= row.distance_m <= 10 * POSITION_LIMIT_M, "a distance", row.distance_m)
    _check_probability(row.probability)


def _check_episode(row: Any) -> None:
    _check_names(row.id, row.task_type, row.robot_id)
    _require(len(row.instruction) <= TEXT_LIMIT, "an instruction", row.instruction)
    _check_stamp(row.started_ns)
    _check_stamp(row.ended_ns)
    _require(0 <= row.attempt <= COUNT_LIMIT, "an attempt", row.attempt)
    _require(row.success in (None, False, True), "success", row.success)


def _check_step(row: Any) -> None:
    _check_names(row.episode_id, row.skill, row.held_object, row.room, row.area)
    _require(bool(row.skill) and row.reason in _REASONS, "skill and reason", (row.skill, row.reason))
    _require(0 <= row.step_index <= COUNT_LIMIT, "a step's index", row.step_index)
    _require(len(row.message) <= TEXT_LIMIT, "a message", row.message)
    for text in (row.arguments, row.visible, row.relations):
        check_names_json(text)
    check_step_numbers(row.stamp_ns, row.x, row.y, row.z, row.duration_s, row.distance_m)


def check_step_numbers(stamp_ns: int, x: float, y: float, z: float, duration_s: float, distance_m: float) -> None:
    """Check the numbers of a step; raise one of UNREADABLE."""
    _check_stamp(stamp_ns)
    _check_position(x, y, z)
    # Also false for NaN.
    fits = abs(duration_s) <= STAMP_END_NS * 1e-9 and abs(distance_m) <= 1e9
    _require(fits, "duration and distance", (duration_s, distance_m))


def check_names_json(text: str) -> tuple[str, ...]:
    """Return the texts of a JSON list; raise one of UNREADABLE."""
    values = _json(text)
    _require(isinstance(values, list) and all(isinstance(value, str) for value in values), "a list of texts", text)
    return tuple(values)


def _check_document(row: Any) -> None:
    _check_names(row.kind, row.robot_id)
    _require(0 < len(row.id) <= TEXT_LIMIT, "an id", row.id)
    _check_stamp(row.stamp_ns)
    _require(isinstance(_json(row.body), dict), "a body", row.body)


def _check_support(row: Any) -> None:
    _check_stamp(row.stamp_ns)
    for text in (row.record_kind, row.record_id, row.source_kind, row.source_id):
        _require(isinstance(text, str), "a reference", text)


CHECKS: dict[str, Callable[[Any], object]] = {
    "objects": check_object,
    "appearances": _check_appearance,
    "places": _check_place,
    "events": _check_event,
    "state_changes": _check_state_change,
    "floors": _check_floor,
    "rooms": _check_room,
    "areas": _check_area,
    "relations": _check_relation,
    "episodes": _check_episode,
    "steps": _check_step,
    "documents": _check_document,
    "supports": _check_support,
}


def _check_names(*names: str) -> None:
    for name in names:
        if len(name) > NAME_LIMIT or not isinstance(name, str):
            raise InvalidValueError(f"expected a name of at most {NAME_LIMIT} characters, got {str(name)[:40]!r}...")


def _check_stamp(stamp_ns: int) -> None:
    if not isinstance(stamp_ns, int) or not 0 <= stamp_ns < STAMP_END_NS:
        raise InvalidValueError(f"expected a stamp from 0 to {STAMP_END_NS} ns, got {stamp_ns}")


def _check_position(*numbers: float) -> None:
    for number in numbers:
        # Also false for NaN.
        if not -POSITION_LIMIT_M <= number <= POSITION_LIMIT_M:
            raise InvalidValueError(f"expected a position within {POSITION_LIMIT_M:g} m, got {number}")


def _check_probability(probability: Any) -> None:
    if not isinstance(probability, (int, float)) or not 0.0 <= probability <= _CERTAIN:
        raise InvalidValueError(f"expected a probability from 0 to 1, got {probability!r}")


def _require(fits: bool, what: str, value: Any) -> None:
    if not fits:
        raise InvalidValueError(f"{what}: got {str(value)[:80]}")


def _json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise InvalidValueError(f"JSON: expected finite numbers, got {name}")

    return json.loads(text, parse_constant=refuse)
