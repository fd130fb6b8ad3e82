"""The units of the short-term memory, indexed for the ranker."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.answers import answer_of
from memory_node.search.ranker import Ranker
from memory_node.search.state_words import described
from memory_node.search.unit_table import UnitTable
from memory_node.search.unit_view import UnitView
from memory_node.search.vector_index import GraphSettings, VectorIndex

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
                if not self._note_description(row, descriptions.get(unit.object_id, "")):
                    continue
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

    def _note_description(self, row: int, description: str) -> bool:
        """Note how a row is described, "" for one with a vector of its own; return whether its vector is new."""
        if description and self._description_of.get(row) == description:
            return False
        self._description_of[row] = description
        return True

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
