"""The units of the short-term memory, indexed for the ranker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.ranker import Ranker, answer_of
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
    WORDS,
    X_M,
    Z_M,
    Columns,
    UnitTable,
)
from memory_node.search.vector_rows import VectorRows


class UnitView:
    """A `View`; used for one request.

    words: the vectors of what units are, by their numbers in the table. looks: of pictures, by row. answer: puts a unit
    and its score under the answer contract. within: the ids of the areas that count, None for all.
    """

    def __init__(
        self,
        table: UnitTable,
        words: VectorRows,
        looks: VectorRows | None,
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
        columns, request = self._columns, self._request
        numbers = columns.class_numbers + 1  # 0: a row without a unit
        counts = np.bincount(numbers)
        present = np.flatnonzero(counts[1:]).astype(np.int32)
        if request.fit is not None and request.picture_vector is None:
            # Of a class that cannot be meant no unit is scored.
            present = present[self._scoring.may_be_meant(request, present)]
        chosen = np.zeros(len(counts), dtype=np.bool_)
        chosen[present + 1] = True
        rows = np.flatnonzero(chosen[numbers])
        rows = rows[self._passing(columns.facts[rows], numbers[rows] - 1)]
        own = None
        if request.vector is not None:
            own = self._words.cosines(request.vector)[columns.facts[rows, WORDS].astype(np.int64)].astype(np.float64)
        return Candidates(rows, numbers[rows] - 1, own)

    def looks(self, rows: Rows, picture_vector: NDArray[np.float32]) -> Floats | None:
        """Return the cosines (n,) of the units' pictures with the request, 0 where there is none."""
        return None if self._looks is None else (self._looks.of(rows) @ picture_vector).astype(np.float64)

    def facts(self, rows: Rows) -> Facts:
        """Return what else is known of units (n,)."""
        return _facts(self._columns.facts[rows], self._request, self._columns)

    def answer(self, row: int, score: float) -> ObjectAnswer | None:
        """Return a unit under the answer contract; None for one that has left."""
        unit = self._columns.units[row]
        return None if unit is None else self._answer(unit, score)

    def _passing(self, facts: Floats, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return (n,) whether the query's filters let units through."""
        request = self._request
        passes = self._scoring.passing(request, numbers, facts[:, STATES].astype(np.int64))
        if self._areas is not None:
            passes &= np.isin(facts[:, AREA], self._areas)
        if request.query.as_of_ns:
            passes &= facts[:, STAMP_NS] <= request.query.as_of_ns - self._columns.epoch_ns
        return passes


def _facts(matrix: Floats, request: Request, columns: Columns) -> Facts:
    """Return rows (n, 12) of a unit table as facts."""
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
_NOT_EMBEDDED = 0  # number of words without a vector


class UnitIndex:
    """Follows the short-term memory by `put` and `remove`. Safe to share between threads: writers wait for each other,
    readers for nobody.

    Units that are the same in words ("clean mug") share one vector of these words. is_read: False follows the memory
    and answers nothing.
    """

    def __init__(self, ranker: Ranker, is_read: bool = True) -> None:
        self.ranker = ranker
        self._is_read = is_read
        self._lock = threading.Lock()
        self._gathering = 0
        self._gathered: dict[str, MemoryUnit | None] = {}
        self.clear()

    def __len__(self) -> int:
        return len(self._table)

    # --- writers ---------------------------------------------------------------------------------

    def put(self, unit: MemoryUnit) -> None:
        """Take over a unit in place of the one of the same object; what it is and its states are embedded as words."""
        self.put_all([unit])

    def put_all(self, units: Sequence[MemoryUnit]) -> None:
        """Do as `put` for many units."""
        units = list({unit.object_id: unit for unit in units}.values())
        descriptions = [_description(unit) for unit in units]
        # A slow embedder must not hold up other writers, and takes many texts at once in a fifth of the time.
        self.ranker.classes.meet({name for u in units for name in (u.object_class, u.support_class) if name})
        new = [text for text in dict.fromkeys(descriptions) if text not in self._number_of]
        vectors = self.ranker.classes.vectors_of(new)
        with self._lock:
            for text, vector in zip(new, vectors):
                if vector.any() and text not in self._number_of:
                    self._words.put(np.array([len(self._number_of)]), vector[None])
                    self._number_of[text] = len(self._number_of)
            for unit, description in zip(units, descriptions):
                self._put_in_table(unit, self._number_of.get(description, _NOT_EMBEDDED))

    def _put_in_table(self, unit: MemoryUnit, words: int) -> None:
        number_of = self.ranker.classes.number_of
        support = number_of(unit.support_class) if unit.support_class else -1
        row = self._table.put(unit, number_of(unit.object_class), support, words)
        if self._looks is not None and unit.looks is not None:
            self._looks.put(np.array([row]), unit.looks[None])

    def remove(self, object_id: str) -> bool:
        """Take an object's unit out; return whether there was one."""
        with self._lock:
            row = self._table.remove(object_id)
            if row is None:
                return False
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
            pictures = self.ranker.picture_dimension
            self._table = UnitTable()
            self._words = VectorRows(self.ranker.classes.dimension)
            self._looks = VectorRows(pictures) if pictures else None
            self._number_of = {"": _NOT_EMBEDDED}

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
