"""Answers to "where is X": ranked, with the evidence for each answer and a status that can say "unknown"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import SceneObject
from memory_node.scene_graph.state import plain_name

_MIN_SCORE = 0.45


def answer_query(
    objects: Sequence[SceneObject],
    query: FindQuery,
    now_ns: int,
    embedder: TextEmbedder | None = None,
    frame_verified: bool = True,
    room_of_area: dict[str, str] | None = None,
) -> Recollection:
    """Return the objects that fit a query, best first.

    Score: fit of the words (cosine of the embeddings, or equal names without an embedder), of the asked states, and
    how likely the object still is there; near queries prefer the nearer of equals. Abstains where nothing fits by at
    least half.
    """
    asked = [o for o in objects if o.id not in query.exclude_ids and (not query.area_id or o.area_id == query.area_id)]
    if query.object_class:
        wanted = plain_name(query.object_class)
        asked = [o for o in asked if plain_name(o.class_name) == wanted]
    fit = _text_fit(asked, query.text, embedder)
    scored = []
    for candidate, words in zip(asked, fit):
        states = _state_fit(candidate, query)
        score = words * states * (0.5 + 0.5 * candidate.existence)
        if query.near is not None:
            distance = float(np.linalg.norm(np.asarray(query.near) - candidate.box.center))
            score *= 0.7 + 0.3 * np.exp(-distance / 3.0)
        if words * states >= _MIN_SCORE:
            scored.append((float(min(1.0, max(0.0, score))), candidate))
    scored.sort(key=lambda entry: (-entry[0], -entry[1].last_seen_ns, entry[1].id))
    answers = tuple(
        as_answer(candidate, score, now_ns, frame_verified, room_of_area or {})
        for score, candidate in (scored[: query.k] if query.k > 0 else scored)
    )
    if not answers:
        asked_for = query.object_class or query.text or "anything"
        return Recollection((), AnswerStatus.UNKNOWN, f"nothing remembered fits {asked_for!r}")
    return Recollection(answers, answers[0].status)


def as_answer(
    found: SceneObject, score: float, now_ns: int, frame_verified: bool, room_of_area: dict[str, str]
) -> ObjectAnswer:
    """Return one object under the answer contract."""
    if not frame_verified:
        status = AnswerStatus.FRAME_NOT_VERIFIED
    elif found.removed or found.existence < 0.5:
        status = AnswerStatus.PROBABLY_GONE
    else:
        status = AnswerStatus.OK
    return ObjectAnswer(
        object_id=found.id,
        object_class=found.class_name,
        class_probability=found.class_probabilities[found.class_name],
        position=found.box.center,
        covariance=found.covariance,
        size=found.box.size,
        yaw_rad=found.box.yaw_rad,
        existence=found.existence,
        stamp_ns=now_ns,
        last_seen_ns=found.last_seen_ns,
        last_missed_ns=found.last_missed_ns,
        score=score,
        source="long_term",
        status=status,
        states=found.states,
        area_id=found.area_id,
        room_name=room_of_area.get(found.area_id, ""),
        support_id=found.support_id,
        inside=found.inside,
    )


def _text_fit(objects: Sequence[SceneObject], text: str, embedder: TextEmbedder | None) -> NDArray[np.float64]:
    if not text or not objects:
        return np.ones(len(objects))
    descriptions = [describe(found) for found in objects]
    if embedder is None:
        wanted = plain_name(text)
        return np.array([1.0 if plain_name(o.class_name) in wanted else 0.0 for o in objects])
    listed = sorted(set(descriptions))
    vectors = embedder.embed([text, *listed])
    cosine = dict(zip(listed, (vectors[1:] @ vectors[0]).tolist()))
    return np.array([cosine[description] for description in descriptions])


def describe(found: SceneObject) -> str:
    """Return an object in words: its states and its class, "sliced apple"."""
    states = [str(belief.state).replace("_", " ") for belief in found.states if belief.probability >= 0.5]
    return " ".join([*states, spoken_name(found.class_name)])


def spoken_name(name: str) -> str:
    """Return a class name as words: CounterTop and counter_top become "counter top"."""
    spaced = "".join(
        " " + c.lower() if c.isupper() and i and not name[i - 1].isupper() else c for i, c in enumerate(name)
    )
    return spaced.replace("_", " ").replace("  ", " ").lower().strip()


def _state_fit(found: SceneObject, query: FindQuery) -> float:
    fit = 1.0
    for state in query.states:
        fit *= max((b.probability for b in found.states if b.state is state), default=0.0)
    return fit
