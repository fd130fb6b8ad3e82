"""Answers about objects, ranked areas and short-term memory units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from robot_memory import msg as rm
from robot_memory import srv

from memory_node.domain.answer import AnswerStatus, FindQuery, Location, ObjectAnswer, RankedArea, Recollection
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.nodes.conversions.geometry import (
    box_pose_to_msg,
    covariance_from_msg,
    header,
    point_from_msg,
    point_to_msg,
    pose_from_msg,
    vector_to_msg,
)
from memory_node.nodes.conversions.paired import PLACE, Paired, Part, several, stamp
from memory_node.nodes.conversions.ranges import checked_label, checked_labels, checked_text
from memory_node.nodes.conversions.skills import STATES, names_of, states_named
from memory_node.short_term.object_cache import CachedUnit

_IDS = Part("", sorted, lambda what, value: frozenset(checked_labels(what, value)))
_ASKED = {
    "text": Part("text", from_msg=checked_text),
    "object_class": Part("object_class", from_msg=checked_label),
    "states": Part("states", names_of, states_named),
    "k": Part("k", from_msg=lambda what, value: value or FindQuery.k),
    "as_of_ns": stamp("as_of"),
    "exclude_ids": _IDS._replace(name="exclude_ids"),
    "exclude_supports": _IDS._replace(name="exclude_supports"),
}


def _query(service: Any) -> Paired[FindQuery]:
    """Return what a service can be asked for; a request has not every field of a query."""
    known = service.Request.get_fields_and_field_types()
    parts = {name: part for name, part in _ASKED.items() if part.name in known}
    return Paired(FindQuery, service.Request, **parts)


_QUERIES = {kind.Request: _query(kind) for kind in (srv.FindObjects, srv.RecallObjects, srv.LocateObject)}


def query_to_request(service: Any, query: FindQuery, **more: Any) -> Any:
    """Return a request of FindObjects, RecallObjects or LocateObject; more: what else it asks."""
    near = point_to_msg(query.near or (0.0, 0.0, 0.0))
    return _QUERIES[service.Request].to_msg(query, near_position=query.near is not None, position=near, **more)


def query_from_request(request: Any) -> FindQuery:
    """Return what a request of FindObjects, RecallObjects or LocateObject asks.

    Raises:
        InvalidValueError: a field is none that memory could work with; it names the field.
    """
    near = point_from_msg(request.position) if request.near_position else None
    return _QUERIES[type(request)].from_msg(request, near=near)


_STATUSES = (
    AnswerStatus.OK,
    AnswerStatus.UNKNOWN,
    AnswerStatus.FRAME_NOT_VERIFIED,
    AnswerStatus.PROBABLY_GONE,
    AnswerStatus.INVALID,
)


def status_to_msg(status: AnswerStatus, explanation: str = "") -> rm.AnswerStatus:
    """Return an AnswerStatus message."""
    return rm.AnswerStatus(value=_STATUSES.index(status), explanation=explanation)


def status_from_msg(msg: rm.AnswerStatus) -> AnswerStatus:
    """Return a domain AnswerStatus; a value outside the constants is UNKNOWN."""
    return _STATUSES[msg.value] if msg.value < len(_STATUSES) else AnswerStatus.UNKNOWN


_ANSWER = Paired(
    ObjectAnswer,
    rm.ObjectAnswer,
    existence=Part("existence_probability"),
    size=Part("size", vector_to_msg, lambda what, value: np.array(point_from_msg(value, what))),
    stamp_ns=stamp("header.stamp"),
    frame_id=Part("header.frame_id"),
    last_seen_ns=stamp("last_seen"),
    last_missed_ns=stamp("last_missed"),
    status=Part("status", status_to_msg, lambda what, value: status_from_msg(value)),
    explanation=Part("status.explanation"),
    age_s=Part("age"),
    states=STATES,
)


def answer_to_msg(answer: ObjectAnswer) -> rm.ObjectAnswer:
    """Return an ObjectAnswer message."""
    return _ANSWER.to_msg(answer, pose=box_pose_to_msg(answer.position, answer.yaw_rad, answer.covariance))


def answer_from_msg(msg: rm.ObjectAnswer) -> ObjectAnswer:
    """Return a domain ObjectAnswer."""
    pose, covariance = pose_from_msg(msg.pose.pose), covariance_from_msg(msg.pose)
    return _ANSWER.from_msg(msg, position=pose.position, yaw_rad=pose.yaw_rad, covariance=covariance)


_AREA = Paired(RankedArea, rm.RankedArea, position=PLACE)
ranked_area_to_msg, ranked_area_from_msg = _AREA.to_msg, _AREA.from_msg


def _outcome(what: str, msg: rm.AnswerStatus) -> AnswerStatus:
    """Return the status of a response; raises InvalidValueError where memory could make nothing of the request."""
    if msg.value == rm.AnswerStatus.INVALID:
        raise InvalidValueError(msg.explanation)
    return status_from_msg(msg)


_FOUND = {
    "answers": several(answer_to_msg, answer_from_msg),
    "status": Part("status", status_to_msg, _outcome),
    "explanation": Part("status.explanation"),
}
# The responses of FindObjects and RecallObjects, and of LocateObject.
RECOLLECTION = Paired(Recollection, srv.FindObjects.Response, **_FOUND)
_AREAS = several(ranked_area_to_msg, ranked_area_from_msg)
LOCATION = Paired(Location, srv.LocateObject.Response, **_FOUND, areas=_AREAS, memory=Part())

_UNIT = Paired(
    MemoryUnit,
    rm.MemoryUnit,
    stamp_ns=stamp("header.stamp"),
    frame_id=Part("header.frame_id"),
    position=Part("position", point_to_msg, lambda what, value: np.array(point_from_msg(value, what))),
    covariance=Part("covariance", np.ravel, lambda what, value: np.asarray(value, dtype=np.float64).reshape(3, 3)),
    states=STATES,
)
unit_to_msg, unit_from_msg = _UNIT.to_msg, _UNIT.from_msg


def units_to_msg(units: Iterable[CachedUnit], stamp_ns: int) -> rm.MemoryUnits:
    """Return the short-term memory at one moment as a MemoryUnits message."""
    held = list(units)
    return rm.MemoryUnits(
        header=header(stamp_ns),
        units=[unit_to_msg(one.unit) for one in held],
        segments=[one.segment for one in held],
        pinned=[one.pinned for one in held],
    )


def units_from_msg(msg: rm.MemoryUnits) -> tuple[CachedUnit, ...]:
    """Return the units of a MemoryUnits message in its order."""
    told = zip(msg.units, msg.segments, msg.pinned)
    return tuple(CachedUnit(unit_from_msg(unit), segment, bool(pinned)) for unit, segment, pinned in told)
