"""The short-term memory's units at the moment of a request: which of them the ranker looks at."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import ObjectAnswer
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.fact_columns import Candidates, Facts, Floats, Rows
from memory_node.search.ranker import largest
from memory_node.search.request import Request
from memory_node.search.scoring import Scoring
from memory_node.search.unit_table import (
    AREA,
    CLASS_PROBABILITY,
    EXISTENCE,
    ROOM,
    STAMP_NS,
    STATES,
    SUPPORT,
    USED_NS,
    X_M,
    Z_M,
    Columns,
    UnitTable,
)
from memory_node.search.vector_index import VectorIndex

# Candidates above `exact_below` units: the nearest ones by the graph, and the best ones of the likely classes. Of each
# kind at least the first number, and the second number for each wanted answer.
_NEAREST_MIN, _NEAREST_FOR_EACH = 60, 6
_OF_CLASSES_MIN, _OF_CLASSES_FOR_EACH = 40, 8


class UnitView:
    """A `View`; used for one request.

    answer: puts a unit and its score under the answer contract. within: the ids of the areas that count, None for all.
    """

    def __init__(
        self,
        table: UnitTable,
        words: VectorIndex,
        looks: VectorIndex | None,
        scoring: Scoring,
        request: Request,
        answer: Callable[[MemoryUnit, float], ObjectAnswer],
        within: Collection[str] | None,
    ) -> None:
        self._table = table
        self._words = words
        self._looks = looks
        self._scoring = scoring
        self._request = request
        self._answer = answer
        self._columns = table.columns()
        self._areas = None if within is None else np.array([table.area_number(area_id) for area_id in within])

    def __len__(self) -> int:
        return len(self._table)

    def candidates(self) -> Candidates:
        """Return the units to score, with the cosine of each one's own words with the request."""
        columns, words, request = self._columns, self._words, self._request
        cosines = None if request.vector is None else words.cosines(request.vector)
        if request.vector is None or cosines is not None:
            rows = np.flatnonzero(self._passing(columns.facts, columns.class_numbers))
            if cosines is None:
                return Candidates(rows, columns.class_numbers[rows])
            # A row that was added since the columns were read is not there yet, and the other way round.
            rows = rows[: np.searchsorted(rows, len(cosines))]
            return Candidates(rows, columns.class_numbers[rows], cosines[rows].astype(np.float64))
        end, k = len(columns.facts), request.query.k
        nearest, near_cosines = words.search(request.vector, max(_NEAREST_MIN, _NEAREST_FOR_EACH * k))
        known = nearest < end
        nearest, near_cosines = nearest[known], near_cosines[known]
        passes = self._passing(columns.facts[nearest], columns.class_numbers[nearest])
        others = self._best_of_classes(max(_OF_CLASSES_MIN, _OF_CLASSES_FOR_EACH * k))
        seen = set(nearest.tolist())  # of a hundred, quicker than numpy's sets
        others = np.array(sorted(row for row in others.tolist() if row < end and row not in seen), dtype=np.int64)
        rows = np.concatenate([nearest[passes], others])
        own = np.concatenate([near_cosines[passes], words.cosines_of(others, request.vector)])
        return Candidates(rows, columns.class_numbers[rows], own.astype(np.float64))

    def looks(self, rows: Rows, picture_vector: NDArray[np.float32]) -> Floats | None:
        """Return the cosines (n,) of the units' pictures with the request, 0 where there is none."""
        return None if self._looks is None else self._looks.cosines_of(rows, picture_vector).astype(np.float64)

    def facts(self, rows: Rows) -> Facts:
        """Return what else is known of units (n,)."""
        return _facts(self._columns.facts[rows], self._request, self._columns)

    def answer(self, row: int, score: float) -> ObjectAnswer | None:
        """Return a unit under the answer contract; None for one that has left."""
        unit = self._columns.units[row]
        return None if unit is None else self._answer(unit, score)

    def _passing(self, facts: Floats, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        request = self._request
        passes = facts[:, CLASS_PROBABILITY] >= 0.0
        passes &= self._scoring.passing(request, numbers, facts[:, STATES].astype(np.int64))
        if self._areas is not None:
            passes &= np.isin(facts[:, AREA], self._areas)
        if request.query.as_of_ns:
            passes &= facts[:, STAMP_NS] <= request.query.as_of_ns - self._columns.epoch_ns
        return passes

    def _best_of_classes(self, count: int) -> Rows:
        """Return the best `count` rows of the classes that fit, their own words left out of account.

        A class is not looked at when no unit of it can be among the best k any more.
        """
        request, scoring, k = self._request, self._scoring, self._request.query.k
        assert request.fit is not None
        numbers = np.arange(len(request.fit.cosines), dtype=np.int32)
        cosines = scoring.cosines(request, Candidates(numbers.astype(np.int64), numbers))
        log_odds = scoring.log_odds(request, numbers, cosines)
        best_rows, best = np.empty(0, dtype=np.int64), np.empty(0)
        for place in np.argsort(-log_odds):
            belief = 1.0 / (1.0 + np.exp(-np.clip(log_odds[place], -30.0, 30.0)))
            if len(best) and (belief < scoring.least_fit or (len(best) >= k and belief < best[k - 1])):
                break
            rows, matrix = self._table.of_class(int(numbers[place]))
            passes = self._passing(matrix, np.full(len(rows), numbers[place], dtype=np.int32))
            if not passes.any():
                continue
            rows, facts = rows[passes], _facts(matrix[passes], request, self._columns)
            one = slice(place, place + 1)
            scores = scoring.scores(request, facts, scoring.fit(request, facts, log_odds[one], cosines[one]))
            kept = largest(scores, count)
            rows, best = np.concatenate([best_rows, rows[kept]]), np.concatenate([best, scores[kept]])
            kept = largest(best, count)
            best_rows, best = rows[kept], best[kept]
        return best_rows


def _facts(matrix: Floats, request: Request, columns: Columns) -> Facts:
    """Return rows (n, 11) of a unit table as facts."""
    at_place = None
    if request.place is not None:
        is_room = np.array([request.place.is_room(name) for name in columns.rooms])
        # A room that was met for the first time since the columns were read is taken for the last one.
        room = np.minimum(matrix[:, ROOM].astype(np.int64), len(is_room) - 1)
        at_place = request.place.holds(is_room[room], room > 0, matrix[:, SUPPORT].astype(np.int32))
    return Facts(
        class_probability=matrix[:, CLASS_PROBABILITY],
        existence=matrix[:, EXISTENCE],
        age_s=(request.now_ns - columns.epoch_ns - matrix[:, STAMP_NS]) * 1e-9,
        position=matrix[:, X_M : Z_M + 1],
        states=matrix[:, STATES].astype(np.int64),
        used_s=(request.now_ns - columns.epoch_ns - matrix[:, USED_NS]) * 1e-9,
        at_place=at_place,
    )
