"""Messages of what was: episodes, what they taught, earlier places."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from robot_memory import msg as rm

from memory_node.domain.deed import Deed
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import Place
from memory_node.domain.step import EpisodeSummary
from memory_node.lessons.lesson import Lesson, LessonKind, Tally, Wording
from memory_node.nodes.conversions.geometry import (
    point_from_msg,
    pose_from_msg,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
    vector_to_msg,
)

_OUTCOMES = {None: rm.Episode.UNKNOWN, True: rm.Episode.SUCCEEDED, False: rm.Episode.FAILED}
_SUCCESS = {outcome: success for success, outcome in _OUTCOMES.items()}


def deed_to_msg(deed: Deed) -> rm.Deed:
    """Return a Deed message."""
    values = asdict(deed)
    return rm.Deed(stamp=stamp_to_msg(values.pop("stamp_ns")), **values)


def deed_from_msg(msg: rm.Deed) -> Deed:
    """Return a domain Deed."""
    return Deed(
        msg.source,
        msg.skill,
        msg.object_id,
        msg.object_class,
        stamp_from_msg(msg.stamp, "stamp"),
        msg.from_id,
        msg.from_class,
        msg.to_id,
        msg.to_class,
        msg.reason,
    )


def episode_to_msg(episode: EpisodeSummary) -> rm.Episode:
    """Return an Episode message."""
    return rm.Episode(
        id=episode.id,
        instruction=episode.instruction,
        task_type=episode.task_type,
        started=stamp_to_msg(episode.started_ns),
        ended=stamp_to_msg(episode.ended_ns),
        outcome=_OUTCOMES[episode.success],
        attempt=episode.attempt,
        robot_id=episode.robot_id,
    )


def episode_from_msg(msg: rm.Episode) -> EpisodeSummary:
    """Return a domain EpisodeSummary; an outcome that is not known here is no outcome."""
    return EpisodeSummary(
        msg.id,
        msg.instruction,
        msg.task_type,
        stamp_from_msg(msg.started, "started"),
        stamp_from_msg(msg.ended, "ended"),
        _SUCCESS.get(msg.outcome),
        msg.attempt,
        msg.robot_id,
    )


def lesson_to_msg(lesson: Lesson) -> rm.Guideline:
    """Return a lesson as a Guideline message; what it says to do stands in its text."""
    return rm.Guideline(
        key=lesson.id,
        text=lesson.text,
        kind=str(lesson.kind),
        task_types=sorted(lesson.task_types),
        object_classes=sorted(lesson.object_classes),
        successes=int(lesson.given.total),
        trials=lesson.given.trials,
        helped=stamp_to_msg(lesson.helped_ns),
        support=lesson.support,
        episode_ids=list(lesson.episodes),
    )


def lesson_from_msg(msg: rm.Guideline) -> Lesson:
    """Return a domain Lesson, as far as the message tells it.

    Raises:
        InvalidValueError: another kind, or more successes than trials.
    """
    if msg.kind not in set(LessonKind):
        raise InvalidValueError(f"Guideline {msg.key}: expected a kind of {', '.join(LessonKind)}, got {msg.kind!r}")
    return Lesson(
        msg.key,
        LessonKind(msg.kind),
        (Wording("", msg.text),),
        task_types=frozenset(msg.task_types),
        object_classes=frozenset(msg.object_classes),
        given=Tally(float(msg.successes), msg.trials),
        helped_ns=stamp_from_msg(msg.helped, "helped"),
        evidence_for=tuple(msg.episode_ids),
        support=msg.support,
    )


def place_to_msg(place: Place) -> rm.PastPlace:
    """Return a PastPlace message."""
    x, y, z = map(float, place.box.center)
    return rm.PastPlace(
        since=stamp_to_msg(place.since_ns),
        until=stamp_to_msg(place.until_ns),
        pose=pose_to_msg(Pose.planar(x, y, place.box.yaw_rad, z)),
        size=vector_to_msg(place.box.size),
        area_id=place.area_id,
        support_id=place.support_id,
    )


def place_from_msg(msg: rm.PastPlace) -> Place:
    """Return a domain Place.

    Raises:
        InvalidValueError: its box is none.
    """
    pose = pose_from_msg(msg.pose)
    box = OrientedBox(pose.position, np.array(point_from_msg(msg.size)), pose.yaw_rad)
    since_ns, until_ns = stamp_from_msg(msg.since, "since"), stamp_from_msg(msg.until, "until")
    return Place(since_ns, until_ns, box, msg.area_id, msg.support_id)
