"""Answers about objects, ranked areas and short-term memory units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from robot_memory import msg as rm

from memory_node.domain.answer import AnswerStatus, Location, ObjectAnswer, RankedArea, Recollection
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.nodes.conversions.geometry import (
    box_pose_to_msg,
    covariance_from_msg,
    header,
    point_from_msg,
    point_to_msg,
    pose_from_msg,
    stamp_from_msg,
    stamp_to_msg,
    vector_to_msg,
)
from memory_node.nodes.conversions.skills import states_from_msg, states_to_msg
from memory_node.short_term.object_cache import CachedUnit

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


def answer_to_msg(answer: ObjectAnswer) -> rm.ObjectAnswer:
    """Return an ObjectAnswer message."""
    return rm.ObjectAnswer(
        header=header(answer.stamp_ns, answer.frame_id),
        status=status_to_msg(answer.status, answer.explanation),
        object_id=answer.object_id,
        object_class=answer.object_class,
        class_probability=answer.class_probability,
        score=answer.score,
        pose=box_pose_to_msg(answer.position, answer.yaw_rad, answer.covariance),
        size=vector_to_msg(answer.size),
        existence_probability=answer.existence,
        age=answer.age_s,
        last_seen=stamp_to_msg(answer.last_seen_ns),
        last_missed=stamp_to_msg(answer.last_missed_ns),
        evidence_frame=answer.evidence_frame,
        source=answer.source,
        area_id=answer.area_id,
        room_name=answer.room_name,
        support_id=answer.support_id,
        inside=answer.inside,
        image_path=answer.image_path,
        states=states_to_msg(answer.states),
    )


def answer_from_msg(msg: rm.ObjectAnswer) -> ObjectAnswer:
    """Return a domain ObjectAnswer."""
    pose = pose_from_msg(msg.pose.pose)
    return ObjectAnswer(
        object_id=msg.object_id,
        object_class=msg.object_class,
        class_probability=msg.class_probability,
        position=pose.position,
        covariance=covariance_from_msg(msg.pose),
        size=np.array(point_from_msg(msg.size)),
        yaw_rad=pose.yaw_rad,
        existence=msg.existence_probability,
        stamp_ns=stamp_from_msg(msg.header.stamp),
        last_seen_ns=stamp_from_msg(msg.last_seen),
        last_missed_ns=stamp_from_msg(msg.last_missed),
        score=msg.score,
        source=msg.source,
        status=status_from_msg(msg.status),
        states=states_from_msg(msg.states),
        frame_id=msg.header.frame_id,
        evidence_frame=msg.evidence_frame,
        area_id=msg.area_id,
        room_name=msg.room_name,
        support_id=msg.support_id,
        inside=msg.inside,
        image_path=msg.image_path,
        explanation=msg.status.explanation,
    )


def recollection_from_msg(response: Any) -> Recollection:
    """Return the response of FindObjects or RecallObjects as a Recollection.

    Raises:
        InvalidValueError: memory could make nothing of the request.
    """
    if response.status.value == rm.AnswerStatus.INVALID:
        raise InvalidValueError(response.status.explanation)
    answers = tuple(answer_from_msg(answer) for answer in response.answers)
    return Recollection(answers, status_from_msg(response.status), response.status.explanation)


def location_from_msg(response: Any) -> Location:
    """Return the response of LocateObject as a Location.

    Raises:
        InvalidValueError: memory could make nothing of the request.
    """
    recollection = recollection_from_msg(response)
    areas = tuple(ranked_area_from_msg(area) for area in response.areas)
    return Location(recollection.answers, areas, recollection.status, recollection.explanation)


def ranked_area_to_msg(area: RankedArea) -> rm.RankedArea:
    """Return a RankedArea message."""
    return rm.RankedArea(
        area_id=area.area_id,
        name=area.name,
        position=point_to_msg(area.position),
        probability=area.probability,
        reason=area.reason,
    )


def ranked_area_from_msg(msg: rm.RankedArea) -> RankedArea:
    """Return a domain RankedArea."""
    x, y, _ = point_from_msg(msg.position)
    return RankedArea(msg.area_id, msg.name, (x, y), msg.probability, msg.reason)


def unit_to_msg(unit: MemoryUnit) -> rm.MemoryUnit:
    """Return a MemoryUnit message."""
    return rm.MemoryUnit(
        header=header(unit.stamp_ns, unit.frame_id),
        object_id=unit.object_id,
        object_class=unit.object_class,
        position=point_to_msg(unit.position),
        covariance=unit.covariance.ravel(),
        states=states_to_msg(unit.states),
        image_path=unit.image_path,
        source=unit.source,
        area_id=unit.area_id,
        support_id=unit.support_id,
    )


def unit_from_msg(msg: rm.MemoryUnit) -> MemoryUnit:
    """Return a domain MemoryUnit."""
    return MemoryUnit(
        object_id=msg.object_id,
        object_class=msg.object_class,
        position=np.array(point_from_msg(msg.position)),
        covariance=np.asarray(msg.covariance, dtype=np.float64).reshape(3, 3),
        stamp_ns=stamp_from_msg(msg.header.stamp),
        frame_id=msg.header.frame_id,
        states=states_from_msg(msg.states),
        image_path=msg.image_path,
        source=msg.source,
        area_id=msg.area_id,
        support_id=msg.support_id,
    )


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
