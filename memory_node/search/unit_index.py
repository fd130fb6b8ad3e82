"""The units of the short-term memory, indexed for the ranker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.ranker import Ranker, answer_of, largest
from memory_node.search.request_words import described
from memory_node.search.scoring import Candidates, Facts, Floats, Request, Rows, Scoring
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
from memory_node.search.vector_index import GraphSettings, VectorIndex

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


SHORT_TERM = "short_term"  # the source of its answers


class UnitIndex:
    """Follows the short-term memory by `put` and `remove`. Safe to share between threads: writers wait for each other,
    readers for nobody.

    graph: of the vector index, above `exact_below` units. is_read: False follows the memory and answers nothing.
    """

    def __init__(self, ranker: Ranker, graph: GraphSettings | None = None, is_read: bool = True) -> None:
        self.ranker = ranker
        self._is_read = is_read
        self._graph_settings = graph
        self._lock = threading.Lock()
        self._gathering = 0
        self._gathered: dict[str, MemoryUnit | None] = {}
        self.clear()

    def __len__(self) -> int:
        return len(self._table)

    @property
    def is_exact(self) -> bool:
        """Whether every unit is compared with a request."""
        return self._words.is_exact

    # --- writers ---------------------------------------------------------------------------------

    def put(self, unit: MemoryUnit) -> None:
        """Take over a unit in place of the one of the same object.

        Its `embedding`, if it has one, is compared with requests; otherwise what it is and its states are put into
        words and embedded.
        """
        self.put_all([unit])

    def put_all(self, units: Sequence[MemoryUnit], threads: int = 1) -> None:
        """Do as `put` for many units; threads: for the graph, if it is that many."""
        units = list({unit.object_id: unit for unit in units}.values())
        descriptions = {unit.object_id: _description(unit) for unit in units if unit.embedding is None}
        # A slow embedder must not hold up other writers, and takes many texts at once in a fifth of the time.
        self.ranker.classes.meet({name for u in units for name in (u.object_class, u.support_class) if name})
        vector_of = dict(zip(descriptions, self.ranker.classes.vectors_of(list(descriptions.values()))))
        with self._lock:
            rows, vectors = [], []
            for unit in units:
                row = self._put_in_table(unit)
                description = descriptions.get(unit.object_id, "")
                if description and self._description_of.get(row) == description:
                    continue
                self._description_of[row] = description  # "" for one with a vector of its own
                vector = vector_of[unit.object_id] if unit.embedding is None else unit.embedding
                if vector.any():
                    rows.append(row)
                    vectors.append(vector)
                else:
                    self._words.remove(row)
            if rows:
                self._words.add(np.array(rows, dtype=np.int64), np.stack(vectors), threads)

    def _put_in_table(self, unit: MemoryUnit) -> int:
        """Put a unit into the table, without the vector that the index keeps, and its looks; return its row."""
        number_of = self.ranker.classes.number_of
        kept = unit if unit.embedding is None else replace(unit, embedding=None)
        support = number_of(unit.support_class) if unit.support_class else -1
        row = self._table.put(kept, number_of(unit.object_class), support)
        if self._looks is not None and unit.looks is not None:
            self._looks.add(np.array([row]), unit.looks[None])
        return row

    def remove(self, object_id: str) -> bool:
        """Take an object's unit out; return whether there was one."""
        with self._lock:
            row = self._table.remove(object_id)
            if row is None:
                return False
            self._description_of.pop(row, None)
            self._words.remove(row)
            if self._looks is not None:
                self._looks.remove(row)
        return True

    def follow(self, object_id: str, unit: MemoryUnit | None) -> None:
        """Put the unit, or remove the object's when it is None: what a cache tells of its changes."""
        with self._lock:
            if self._gathering:
                self._gathered[object_id] = unit
                return
        self._take_over({object_id: unit})

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Take over at the end of the block what it is told to follow: one call of the embedder for all of it, and
        nothing for what came and went. Only one thread at a time may be inside the block."""
        with self._lock:
            self._gathering += 1
        try:
            yield
        finally:
            with self._lock:
                self._gathering -= 1
                gathered = {} if self._gathering else self._gathered
                if gathered:
                    self._gathered = {}
            self._take_over(gathered)

    def _take_over(self, changed: Mapping[str, MemoryUnit | None]) -> None:
        for object_id in [object_id for object_id, unit in changed.items() if unit is None]:
            self.remove(object_id)
        self.put_all([unit for unit in changed.values() if unit is not None])

    def clear(self) -> None:
        """Take every unit out."""
        with self._lock:
            exact_below, pictures = self.ranker.config.exact_below, self.ranker.picture_dimension
            self._table = UnitTable()
            self._words = VectorIndex(self.ranker.classes.dimension, exact_below, self._graph_settings)
            self._looks = VectorIndex(pictures, exact_below, self._graph_settings) if pictures else None
            self._description_of: dict[int, str] = {}

    # --- readers ---------------------------------------------------------------------------------

    def rank(
        self, query: FindQuery, now_ns: int, frame_verified: bool = True, within: Collection[str] | None = None
    ) -> Recollection:
        """Return the units that fit a query under the answer contract; see Ranker.rank.

        frame_verified: whether the map frame is trusted. within: the ids of the areas that `query.area_id` means; by
        default it is taken for an area's own id.
        """
        if not self._is_read:
            return Recollection((), AnswerStatus.UNKNOWN, "the short-term memory is not read")
        stamp_ns = query.as_of_ns or now_ns
        if within is None and query.area_id:
            within = (query.area_id,)

        def answer(unit: MemoryUnit, score: float) -> ObjectAnswer:
            return answer_of(unit, score, stamp_ns, SHORT_TERM, frame_verified)

        request, scoring = self.ranker.read(query, now_ns), self.ranker.scoring
        view = UnitView(self._table, self._words, self._looks, scoring, request, answer, within)
        return self.ranker.rank(request, view)


def _description(unit: MemoryUnit) -> str:
    """Return a unit in a few words: "clean mug"."""
    return described(unit.object_class, [belief.state for belief in unit.states if unit.has_state(belief.state)])
