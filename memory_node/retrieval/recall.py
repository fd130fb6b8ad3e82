"""Ranks remembered objects against a request and says how sure it is, or that it does not know."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.states import EXCLUSIVE, ObjectState
from memory_node.retrieval.caching_embedder import CachingEmbedder
from memory_node.retrieval.class_scores import ClassScores
from memory_node.retrieval.config import RetrievalConfig
from memory_node.retrieval.glosses import ClassGlosses
from memory_node.retrieval.state_words import states_in

# Below this an object is more likely gone than there.
_PROBABLY_THERE = 0.5
# Two answers whose scores differ by less than this fit equally well.
_TIE = 0.05


class Recall:
    """Hybrid ranking: what is meant (dense, lexical, class) times what is asked of it (state, recency, nearness).

    The score in [0, 1] is the belief that the object is what the request means. KARMA ranks by the cosine alone; set
    the other weights to 0 for that. May be shared between threads: its caches are replaced whole.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        glosses: ClassGlosses | None = None,
        config: RetrievalConfig | None = None,
        picture_embedder: TextEmbedder | None = None,
    ) -> None:
        """picture_embedder: embeds texts into the space of the units' picture embeddings, such as a ClipEmbedder."""
        self._config = config or RetrievalConfig.load()
        self._glosses = glosses or ClassGlosses.load()
        self._classes = ClassScores(CachingEmbedder(embedder), self._glosses, self._config)
        self._pictures = CachingEmbedder(picture_embedder) if picture_embedder else None

    def rank(
        self,
        query: FindQuery,
        units: Sequence[MemoryUnit],
        now_ns: int,
        source: str = "short_term",
        frame_verified: bool = True,
    ) -> Recollection:
        """Return the best `query.k` units, best first; none with status UNKNOWN when nothing fits well enough.

        query.states is a filter; states that the text speaks of count against objects that are not known to have
        them. source: what the answers say of where they are from. frame_verified: whether the map frame is trusted.
        """
        fitting = [unit for unit in units if self._passes(query, unit)]
        if not fitting:
            return _unknown(query, "nothing remembered passes the query's filters" if units else "memory is empty")
        meaning = self._meaning(query, fitting)
        # What is asked of a thing only lowers the belief that it is meant, so most need no second look.
        likely = np.flatnonzero(meaning >= self._config.abstain_below)
        if not len(likely):
            closest = int(np.argmax(meaning))
            return _too_far(query, fitting[closest], float(meaning[closest]))
        fitting = [fitting[index] for index in likely]
        scores = meaning[likely] * self._circumstances(query, fitting, now_ns)
        order = np.argsort(-scores, kind="stable")[: max(1, query.k)]
        if scores[order[0]] < self._config.abstain_below:
            return _too_far(query, fitting[order[0]], float(scores[order[0]]))
        kept = [index for index in order if scores[index] >= self._config.abstain_below]
        stamp_ns = query.as_of_ns or now_ns
        answers = tuple(
            _answer(fitting[index], float(scores[index]), stamp_ns, source, frame_verified) for index in kept
        )
        return Recollection(answers, answers[0].status, _explanation(query, answers))

    def _passes(self, query: FindQuery, unit: MemoryUnit) -> bool:
        if unit.object_id in query.exclude_ids or (query.as_of_ns and unit.stamp_ns > query.as_of_ns):
            return False
        if query.area_id and unit.area_id != query.area_id:
            return False
        if query.object_class and not self._glosses.same_class(query.object_class, unit.object_class):
            return False
        return all(unit.has_state(state) for state in query.states)

    def _meaning(self, query: FindQuery, units: Sequence[MemoryUnit]) -> NDArray[np.float64]:
        """Return (n,) beliefs that each unit is the kind of thing that the request means."""
        certain = np.array([unit.class_probability for unit in units])
        if not query.text:
            return certain
        vector = self._classes.embed(query.text)
        names = {unit.object_class for unit in units}
        log_odds_of = self._classes.log_odds(query.text, vector, names)
        log_odds = np.array([log_odds_of[unit.object_class] for unit in units])
        log_odds = np.maximum(log_odds, self._own_log_odds(units, vector))
        if self._pictures is not None:
            log_odds = log_odds + self._picture_evidence(units, self._pictures.embed([query.text])[0])
        return certain / (1.0 + np.exp(-np.clip(log_odds, -30.0, 30.0)))

    def _own_log_odds(self, units: Sequence[MemoryUnit], vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return (n,) log-odds by the units' own embeddings; minus infinity where a unit has none of this length."""
        log_odds = np.full(len(units), -np.inf)
        for index, unit in enumerate(units):
            if unit.embedding is not None and len(unit.embedding) == len(vector):
                cosine = float(unit.embedding @ vector)
                log_odds[index] = (
                    self._config.dense_weight * self._config.cosine_slope * (cosine - self._config.cosine_center)
                )
        return log_odds

    def _picture_evidence(self, units: Sequence[MemoryUnit], vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return (n,) log-odds by the units' picture embeddings, bounded; 0 where a unit has none of this length."""
        config = self._config
        evidence = np.zeros(len(units))
        for index, unit in enumerate(units):
            if unit.embedding is not None and len(unit.embedding) == len(vector):
                evidence[index] = config.picture_slope * (float(unit.embedding @ vector) - config.picture_center)
        return np.clip(evidence, -config.picture_weight, config.picture_weight)

    def _circumstances(self, query: FindQuery, units: Sequence[MemoryUnit], now_ns: int) -> NDArray[np.float64]:
        """Return (n,) factors in [0, 1] for state, recency, nearness and existence."""
        config = self._config
        age_s = np.array([max(0, now_ns - unit.stamp_ns) for unit in units]) * 1e-9
        factors = 1.0 - config.recency_weight * (1.0 - 0.5 ** (age_s / config.recency_half_life_s))
        if query.near is not None:
            distance_m = np.linalg.norm(np.array([unit.position for unit in units]) - np.array(query.near), axis=1)
            factors *= 1.0 - config.nearness_weight * (1.0 - np.exp(-distance_m / config.nearness_scale_m))
        factors *= [0.5 + 0.5 * unit.existence for unit in units]
        for state in states_in(query.text):
            factors *= [1.0 - self._state_penalty(unit, state) for unit in units]
        return np.asarray(factors)

    def _state_penalty(self, unit: MemoryUnit, state: ObjectState) -> float:
        if unit.has_state(state) or (state is ObjectState.SLICED and "Sliced" in unit.object_class):
            return 0.0
        opposites = set().union(*(group for group in EXCLUSIVE if state in group)) - {state}
        known_otherwise = any(unit.has_state(opposite) for opposite in opposites)
        return self._config.state_penalty if known_otherwise else self._config.unknown_state_penalty


def _answer(unit: MemoryUnit, score: float, stamp_ns: int, source: str, frame_verified: bool) -> ObjectAnswer:
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


def _explanation(query: FindQuery, answers: Sequence[ObjectAnswer]) -> str:
    best = answers[0]
    asked = query.text or query.object_class or "the query"
    text = f"{best.object_class} fits {asked!r} with {best.score:.2f}"
    rivals = [answer for answer in answers[1:] if math.isclose(answer.score, best.score, abs_tol=_TIE)]
    if rivals:
        text += f"; so do {len(rivals)} more: " + ", ".join(dict.fromkeys(answer.object_class for answer in rivals))
    return text


def _too_far(query: FindQuery, closest: MemoryUnit, score: float) -> Recollection:
    return _unknown(query, f"the closest, {closest.object_class}, fits with {score:.2f} only")


def _unknown(query: FindQuery, reason: str) -> Recollection:
    asked = query.text or query.object_class or "the query"
    return Recollection((), AnswerStatus.UNKNOWN, f"no answer to {asked!r}: {reason}")
