"""Messages of what was and what is known: episodes, what they taught, earlier places, statements."""

from __future__ import annotations

import numpy as np
from robot_memory import msg as rm
from robot_memory import srv

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import Place
from memory_node.domain.step import Deed, EpisodeSummary, ModelCost
from memory_node.knowledge.answering import KnowledgeAnswer, Mode
from memory_node.knowledge.facts import Proposition
from memory_node.lessons.lesson import Lesson, LessonKind, Tally, Wording
from memory_node.nodes.conversions.geometry import (
    point_from_msg,
    pose_from_msg,
    pose_to_msg,
    vector_to_msg,
)
from memory_node.nodes.conversions.paired import NAMES, TEXTS, Paired, Part, member, several, stamp
from memory_node.nodes.conversions.skills import TRIED

_PROPOSITION = Paired(
    Proposition, rm.Proposition, concepts=NAMES, sources=TEXTS, stamp_ns=stamp("stamp"), structure=TEXTS
)
proposition_to_msg, proposition_from_msg = _PROPOSITION.to_msg, _PROPOSITION.from_msg

# The response of AskMemory, which does not repeat the question.
KNOWLEDGE = Paired(
    KnowledgeAnswer,
    srv.AskMemory.Response,
    text=Part("answer"),
    abstains=Part(),
    mode=member(Mode),
    propositions=several(proposition_to_msg, proposition_from_msg),
    ways=TEXTS,
    object_ids=TEXTS,
)


_OUTCOMES = {None: rm.Episode.UNKNOWN, True: rm.Episode.SUCCEEDED, False: rm.Episode.FAILED}
_SUCCESS = {outcome: success for success, outcome in _OUTCOMES.items()}


_DEED = Paired(Deed, rm.Deed, stamp_ns=stamp("stamp"), tried=TRIED)
deed_to_msg, deed_from_msg = _DEED.to_msg, _DEED.from_msg

# An outcome that is not known here is no outcome.
_EPISODE = Paired(
    EpisodeSummary,
    rm.Episode,
    started_ns=stamp("started"),
    ended_ns=stamp("ended"),
    success=Part("outcome", _OUTCOMES.__getitem__, lambda what, value: _SUCCESS.get(value)),
)
episode_to_msg, episode_from_msg = _EPISODE.to_msg, _EPISODE.from_msg


# Of the metrics of an instruction, what its language model took.
_COST = Paired(
    ModelCost,
    rm.InstructionMetrics,
    tokens_in=Part("context_tokens"),
    tokens_cached=Part("cached_tokens"),
    tokens_out=Part("reply_tokens"),
    model_s=Part("model_time"),
    usd=Part("cost"),
)
model_cost_to_msg, model_cost_from_msg = _COST.to_msg, _COST.from_msg


_LESSON = Paired(
    Lesson,
    rm.Guideline,
    id=Part("key"),
    kind=member(LessonKind),
    task_types=NAMES,
    object_classes=NAMES,
    helped_ns=stamp("helped"),
    evidence_for=TEXTS._replace(name="episode_ids"),
)


def lesson_to_msg(lesson: Lesson) -> rm.Guideline:
    """Return a lesson as a Guideline message; what it says to do stands in its text."""
    tally = {"successes": int(lesson.given.total), "trials": lesson.given.trials}
    return _LESSON.to_msg(lesson, text=lesson.text, episode_ids=list(lesson.episodes), **tally)


def lesson_from_msg(msg: rm.Guideline) -> Lesson:
    """Return a domain Lesson, as far as the message tells it.

    Raises:
        InvalidValueError: another kind, or more successes than trials.
    """
    return _LESSON.from_msg(msg, wordings=(Wording("", msg.text),), given=Tally(float(msg.successes), msg.trials))


_PLACE = Paired(Place, rm.PastPlace, since_ns=stamp("since"), until_ns=stamp("until"))


def place_to_msg(place: Place) -> rm.PastPlace:
    """Return a PastPlace message."""
    x, y, z = map(float, place.box.center)
    pose = pose_to_msg(Pose.planar(x, y, place.box.yaw_rad, z))
    return _PLACE.to_msg(place, pose=pose, size=vector_to_msg(place.box.size))


def place_from_msg(msg: rm.PastPlace) -> Place:
    """Return a domain Place.

    Raises:
        InvalidValueError: its box is none.
    """
    pose = pose_from_msg(msg.pose)
    box = OrientedBox(pose.position, np.array(point_from_msg(msg.size)), pose.yaw_rad)
    return _PLACE.from_msg(msg, box=box)
