"""Builds memory's answers: each with evidence and certainty, or the reason why memory does not know."""

from __future__ import annotations

import math
from dataclasses import replace

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.clock import ago, span
from memory_node.domain.memory_unit import MemoryUnit

# Below this an object is more likely gone than there.
_PROBABLY_THERE = 0.5
# A stamp so far ahead of the clock is of another clock: before a restart, a reset, or a recording's loop.
_AHEAD_S = 1.0
# Two answers whose scores differ by less than this fit equally well.
_TIE = 0.05


def answer_of(unit: MemoryUnit, score: float, stamp_ns: int, source: str, frame_verified: bool) -> ObjectAnswer:
    """Return a thing under the answer contract; stamp_ns: as of when; source: "short_term" or "long_term"."""
    answer = ObjectAnswer(
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
        status=AnswerStatus.OK,
        states=unit.states,
        frame_id=unit.frame_id,
        evidence_frame=unit.frame_id,
        area_id=unit.area_id,
        room_name=unit.room_name,
        support_id=unit.support_id,
        inside=unit.inside,
        image_path=unit.image_path,
    )
    status, explanation = _judged(answer, frame_verified)
    return replace(answer, status=status, explanation=explanation)


def _judged(answer: ObjectAnswer, frame_verified: bool) -> tuple[AnswerStatus, str]:
    """Return how far an answer may be trusted and why; no explanation where nothing speaks against it."""
    if not frame_verified:
        said = (
            "the map may have another origin since this was seen; confirm relocalisation first (confirm_relocalization)"
        )
        return AnswerStatus.FRAME_NOT_VERIFIED, said
    doubtful = answer.existence < _PROBABLY_THERE
    if doubtful and answer.last_missed_ns:
        ago_s = (answer.stamp_ns - answer.last_missed_ns) * 1e-9
        return AnswerStatus.PROBABLY_GONE, f"looked for in vain {ago(ago_s)}, last seen {ago(answer.age_s)}"
    doubts = []
    ahead_s = (answer.last_seen_ns - answer.stamp_ns) * 1e-9
    if ahead_s > _AHEAD_S:
        doubts.append(f"seen {span(ahead_s)} from now by the clock, so with a clock that was another one")
    if doubtful:
        doubts.append(f"sure to {answer.existence:.0%} only: hardly seen, and not looked for since")
    if answer.class_probability < _PROBABLY_THERE:
        doubts.append(f"a {answer.object_class} to {answer.class_probability:.0%} only")
    return AnswerStatus.OK, "; ".join(doubts)


def recollection_of(query: FindQuery, answers: tuple[ObjectAnswer, ...]) -> Recollection:
    """Return the answers, best first, with how well the best one fits and which others fit as well."""
    best = answers[0]
    text = f"{best.object_class} fits {asked(query)} with {best.score:.2f}"
    rivals = [answer for answer in answers[1:] if math.isclose(answer.score, best.score, abs_tol=_TIE)]
    if rivals:
        text += f"; so do {len(rivals)} more: " + ", ".join(dict.fromkeys(answer.object_class for answer in rivals))
    return Recollection(answers, best.status, "; ".join(filter(None, (text, best.explanation))))


def too_far(query: FindQuery, closest: ObjectAnswer) -> Recollection:
    """Return that memory abstains, and what came closest."""
    return unknown(query, f"the closest, {closest.object_class}, fits with {closest.score:.2f} only")


def unknown(query: FindQuery, reason: str) -> Recollection:
    """Return that memory does not know, and why."""
    return Recollection((), AnswerStatus.UNKNOWN, f"no answer to {asked(query)}: {reason}")


def asked(query: FindQuery) -> str:
    """Return a query in words."""
    parts = [repr(query.text)] if query.text else []
    parts += [f"class {query.object_class}"] if query.object_class else []
    parts += [f"{', '.join(map(str, query.states))}"] if query.states else []
    parts += [f"in {query.area_id}"] if query.area_id else []
    return ", ".join(parts) or "the query"
