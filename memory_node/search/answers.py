"""What recall says: answers with their evidence, how sure it is, or why it does not know."""

from __future__ import annotations

import math

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.memory_unit import MemoryUnit

# Below this an object is more likely gone than there.
_PROBABLY_THERE = 0.5
# Two answers whose scores differ by less than this fit equally well.
_TIE = 0.05


def answer_of(unit: MemoryUnit, score: float, stamp_ns: int, source: str, frame_verified: bool) -> ObjectAnswer:
    """Return a unit under the answer contract; stamp_ns: as of when."""
    status = AnswerStatus.OK if unit.existence >= _PROBABLY_THERE else AnswerStatus.PROBABLY_GONE
    return ObjectAnswer(
        object_id=unit.object_id,
        object_class=unit.object_class,
        class_probability=unit.class_probability,
        position=unit.position,
        covariance=unit.covariance,
        size=unit.size,
        yaw_rad=unit.yaw_rad,
        existence=unit.existence,
        stamp_ns=stamp_ns,
        last_seen_ns=unit.stamp_ns,
        last_missed_ns=unit.last_missed_ns,
        score=score,
        source=source,
        status=status if frame_verified else AnswerStatus.FRAME_NOT_VERIFIED,
        states=unit.states,
        frame_id=unit.frame_id,
        evidence_frame=unit.frame_id,
        area_id=unit.area_id,
        room_name=unit.room_name,
        support_id=unit.support_id,
        inside=unit.inside,
        image_path=unit.image_path,
    )


def recollection_of(query: FindQuery, answers: tuple[ObjectAnswer, ...]) -> Recollection:
    """Return the answers, best first, with how well the best one fits and which others fit as well."""
    best = answers[0]
    text = f"{best.object_class} fits {_asked(query)} with {best.score:.2f}"
    rivals = [answer for answer in answers[1:] if math.isclose(answer.score, best.score, abs_tol=_TIE)]
    if rivals:
        text += f"; so do {len(rivals)} more: " + ", ".join(dict.fromkeys(answer.object_class for answer in rivals))
    return Recollection(answers, best.status, text)


def too_far(query: FindQuery, closest: MemoryUnit, score: float) -> Recollection:
    """Return that recall abstains, and what came closest."""
    return unknown(query, f"the closest, {closest.object_class}, fits with {score:.2f} only")


def unknown(query: FindQuery, reason: str) -> Recollection:
    """Return that recall does not know, and why."""
    return Recollection((), AnswerStatus.UNKNOWN, f"no answer to {_asked(query)}: {reason}")


def _asked(query: FindQuery) -> str:
    return repr(query.text or query.object_class or "the query")
