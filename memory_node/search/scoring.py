"""The score of a remembered unit: the belief that the request means it, over many units at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import FindQuery
from memory_node.domain.states import EXCLUSIVE, ObjectState
from memory_node.search.class_scores import ClassFit, ClassScores
from memory_node.search.config import RetrievalConfig
from memory_node.search.unit_table import (
    AREA,
    CLASS_PROBABILITY,
    EXISTENCE,
    STAMP_NS,
    STATES,
    X_M,
    Z_M,
    state_bits,
)

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Request:
    """A query, read: its embeddings, how it fits each class (None: it has no words), and the states that it speaks of.

    now_ns, as_of_ns: since the facts' epoch. wanted_classes: by class number, for a query that restricts them. area:
    the number of its area in the facts.
    """

    query: FindQuery
    now_ns: int
    as_of_ns: int
    vector: NDArray[np.float32] | None
    fit: ClassFit | None
    picture_vector: NDArray[np.float32] | None
    states: tuple[ObjectState, ...]
    wanted_classes: NDArray[np.bool_] | None
    area: int


class Scoring:
    """Beliefs and circumstances of units, by the weights of the config."""

    def __init__(self, classes: ClassScores, config: RetrievalConfig) -> None:
        self._classes = classes
        self._config = config
        threshold = min(max(config.abstain_below, 1e-9), 1.0 - 1e-9)
        self._least_log_odds = math.log(threshold / (1.0 - threshold))

    def passing(self, request: Request, facts: Floats, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return (n,) whether a row holds a unit that the query's filters let through, but for `exclude_ids`."""
        query = request.query
        passes = facts[:, CLASS_PROBABILITY] >= 0.0
        if request.wanted_classes is not None:
            passes &= _by_class(request.wanted_classes, numbers)
        if query.area_id:
            passes &= facts[:, AREA] == request.area
        if query.as_of_ns:
            passes &= facts[:, STAMP_NS] <= request.as_of_ns
        if query.states:
            wanted = state_bits(*query.states)
            passes &= facts[:, STATES].astype(np.int64) & wanted == wanted
        return np.asarray(passes)

    def cosines(self, request: Request, numbers: NDArray[np.int32], own: Floats | None) -> Floats:
        """Return (n,) how like the request each unit's words are: its class's texts, or its own if they are liker."""
        assert request.fit is not None
        of_class = _by_class(request.fit.cosines, numbers)
        return of_class if own is None else np.maximum(of_class, own)

    def log_odds(self, request: Request, numbers: NDArray[np.int32], cosines: Floats) -> Floats:
        """Return (n,) log-odds that each unit is of the kind that the request means."""
        assert request.fit is not None
        return self._classes.log_odds(cosines, request.fit) + _by_class(request.fit.word_log_odds, numbers)

    def likely(self, log_odds: Floats) -> NDArray[np.int64]:
        """Return where a unit may reach the threshold: what is asked of a thing beside its kind only lowers belief."""
        return np.flatnonzero(log_odds >= self._least_log_odds)

    def picture_evidence(self, cosines: Floats) -> Floats:
        """Return (n,) log-odds by the units' pictures, bounded; 0 where there is none."""
        config = self._config
        evidence = config.picture_slope * (cosines - config.picture_center)
        return np.where(cosines == 0.0, 0.0, np.clip(evidence, -config.picture_weight, config.picture_weight))

    def scores(self, request: Request, facts: Floats, log_odds: Floats | None, cosines: Floats | None) -> Floats:
        """Return (n,) scores in [0, 1]; log_odds, cosines: None for a request without words."""
        config = self._config
        scores = facts[:, CLASS_PROBABILITY] * self._circumstances(request, facts)
        if log_odds is not None and cosines is not None:
            scores /= 1.0 + np.exp(-np.clip(log_odds, -30.0, 30.0))
            scores *= 1.0 - config.likeness_weight * (1.0 - np.minimum(cosines, 1.0))
        return np.asarray(scores)

    def _circumstances(self, request: Request, facts: Floats) -> Floats:
        """Return (n,) factors in [0, 1] for state, recency, nearness and existence."""
        config = self._config
        age_s = np.maximum(request.now_ns - facts[:, STAMP_NS], 0.0) * 1e-9
        factors = 1.0 - config.recency_weight * (1.0 - np.exp2(age_s * (-1.0 / config.recency_half_life_s)))
        factors *= 0.5 + 0.5 * facts[:, EXISTENCE]
        if request.query.near is not None:
            away = facts[:, X_M : Z_M + 1] - np.array(request.query.near)
            distance_m = np.sqrt(np.einsum("ij,ij->i", away, away))
            factors *= 1.0 - config.nearness_weight * (1.0 - np.exp(distance_m * (-1.0 / config.nearness_scale_m)))
        if request.states:
            believed = facts[:, STATES].astype(np.int64)
            for state in request.states:
                factors *= 1.0 - self._state_penalty(believed, state)
        return np.asarray(factors)

    def _state_penalty(self, believed: NDArray[np.int64], state: ObjectState) -> Floats:
        opposites = set().union(*(group for group in EXCLUSIVE if state in group)) - {state}
        otherwise = np.where(
            believed & state_bits(*opposites), self._config.state_penalty, self._config.unknown_state_penalty
        )
        return np.where(believed & state_bits(state), 0.0, otherwise)


def _by_class(values: NDArray[Any], numbers: NDArray[np.int32]) -> NDArray[Any]:
    # A class that was met for the first time since the request was read has no value yet: it is taken for the last one.
    return values.take(numbers, mode="clip")
