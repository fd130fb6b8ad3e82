"""Answers to "where is X": ranked, with the evidence for each answer and a status that can say "unknown"."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.catalogue.class_name import folded, spoken
from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.geometry import FloatArray
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import SceneObject
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.as_of import Whereabouts, whereabouts, whereabouts_as_of
from memory_node.scene_graph.object_table import ObjectTable, Rows
from memory_node.scene_graph.state import GraphState

_MIN_SCORE = 0.45


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows (n,) that fit a query with their scores (n,) in [0, 1], best first."""

    rows: Rows
    scores: FloatArray


def rank_objects(
    state: GraphState, query: FindQuery, embedder: TextEmbedder | None = None, within: Collection[str] | None = None
) -> Ranking:
    """Return the objects that fit a query, at most query.k of them (0: all), removed ones included.

    within: the ids of the areas that `query.area_id` means; None: wherever they are.

    Score: fit of the words (cosine of the embeddings, or equal names without an embedder), of the asked states, and
    how likely the object still is there; near queries prefer the nearer of equals. What fits by less than half is left
    out. The time is that of a few passes over columns: no object is built that is not answered with.
    """
    table = state.table
    asked = _asked(state, query, within)
    fit = _text_fit(table, asked.rows, query.text, embedder)
    asked, fit = asked.select(fit >= _MIN_SCORE), fit[fit >= _MIN_SCORE]
    fit = fit * _state_fit(table, asked.rows, query.states)
    asked, fit = asked.select(fit >= _MIN_SCORE), fit[fit >= _MIN_SCORE]
    existence = 1.0 / (1.0 + np.exp(-table.log_odds[asked.rows].astype(np.float64)))
    score = fit * (0.5 + 0.5 * existence)
    if query.near is not None:
        distance = np.linalg.norm(asked.center - np.asarray(query.near), axis=1)
        score *= 0.7 + 0.3 * np.exp(-distance / 3.0)
    score = np.clip(score, 0.0, 1.0)
    best = _best_first(table, asked, score, query.k)
    return Ranking(asked.rows[best], score[best])


def recollect(answers: Sequence[ObjectAnswer], query: FindQuery) -> Recollection:
    """Return answers under the answer contract: with none, memory abstains and says why."""
    if not answers:
        asked_for = query.object_class or query.text or "anything"
        return Recollection((), AnswerStatus.UNKNOWN, f"nothing remembered fits {asked_for!r}")
    return Recollection(tuple(answers), answers[0].status)


def as_answer(found: SceneObject, score: float, now_ns: int, frame_verified: bool, room_name: str) -> ObjectAnswer:
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
        room_name=room_name,
        support_id=found.support_id,
        inside=found.inside,
    )


def describe(class_name: str, states: Iterable[ObjectState]) -> str:
    """Return an object in words: its states and its class, "sliced apple"."""
    return " ".join([*(str(state).replace("_", " ") for state in states), spoken(class_name)])


def _asked(state: GraphState, query: FindQuery, within: Collection[str] | None) -> Whereabouts:
    """Return what is of the class and in the areas that a query asks for, where it is or was then."""
    table = state.table
    rows = state.rows_of_class(query.object_class) if query.object_class else np.flatnonzero(table.alive)
    excluded = [table.row_of[object_id] for object_id in query.exclude_ids if object_id in table.row_of]
    if excluded:
        rows = np.setdiff1d(rows, excluded)
    asked = whereabouts_as_of(table, rows, query.as_of_ns) if query.as_of_ns else whereabouts(table, rows)
    if within is None:
        return asked
    return asked.select(np.array([area_id in within for area_id in table.area_ids], dtype=bool)[asked.area_code])


def _text_fit(table: ObjectTable, rows: Rows, text: str, embedder: TextEmbedder | None) -> FloatArray:
    """Return how well the text suits each row's class and states (n,); every description is compared once."""
    if not text or not rows.size:
        return np.ones(len(rows))
    sets = len(table.state_sets)
    kind = table.class_code[rows].astype(np.intp) * sets + table.state_code[rows]
    fit_of_kind = np.bincount(kind).astype(np.float64)
    used = np.flatnonzero(fit_of_kind)
    classes = [table.class_names[i // sets] for i in used.tolist()]
    if embedder is None:
        wanted = folded(text)
        fit_of_kind[used] = [folded(name) in wanted for name in classes]
    else:
        states = [[state for state, held in table.state_sets[i % sets] if held] for i in used.tolist()]
        words = [describe(*described) for described in zip(classes, states)]
        listed = sorted(set(words))
        vectors = embedder.embed([text, *listed])
        cosine = dict(zip(listed, (vectors[1:] @ vectors[0]).tolist()))
        fit_of_kind[used] = [cosine[description] for description in words]
    return np.asarray(fit_of_kind[kind])


def _state_fit(table: ObjectTable, rows: Rows, states: Sequence[ObjectState]) -> FloatArray:
    """Return how likely all the states are true of each row (n,); 0 where nothing is known of one."""
    if not states:
        return np.ones(len(rows))
    telling = [code for code, told in enumerate(table.state_sets) if set(states) <= {state for state, _ in told}]
    fit = np.zeros(len(rows))
    for index in np.flatnonzero(np.isin(table.state_code[rows], telling)).tolist():
        probability = {b.state: b.probability for b in table.record(int(rows[index])).states}
        fit[index] = math.prod(probability[state] for state in states)
    return fit


def _best_first(table: ObjectTable, asked: Whereabouts, score: FloatArray, k: int) -> Rows:
    """Return the indices of the best `k` (0: all): by score, then last seen, then id."""
    count = len(score)
    chosen = np.arange(count)
    if 0 < k < count:
        # Only what may still be of the best is sorted, and only what is tied with the last of them by id.
        chosen = np.flatnonzero(score >= np.partition(score, count - k)[count - k])
        seen = asked.last_seen[chosen]
        order = np.lexsort((-seen, -score[chosen]))
        last = order[k - 1]
        chosen = chosen[
            np.union1d(order[:k], np.flatnonzero((score[chosen] == score[chosen[last]]) & (seen == seen[last])))
        ]
    ranked = sorted(
        zip((-score[chosen]).tolist(), (-asked.last_seen[chosen]).tolist(), chosen.tolist()),
        key=lambda entry: (*entry[:2], table.record(int(asked.rows[entry[2]])).id),
    )
    return np.array([index for _, _, index in (ranked[:k] if k > 0 else ranked)], dtype=np.intp)
