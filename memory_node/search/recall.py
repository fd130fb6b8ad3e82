"""Ranks remembered objects against a request and says how sure it is, or that it does not know."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import FindQuery, Recollection
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.ports import TextEmbedder
from memory_node.search.answers import answer_of, recollection_of, too_far, unknown
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.class_scores import ClassScores
from memory_node.search.clip_embedder import ClipEmbedder
from memory_node.search.config import RetrievalConfig
from memory_node.search.glosses import ClassGlosses
from memory_node.search.request_phrases import RequestPhrases
from memory_node.search.scoring import Floats, Request, Rows, Scoring
from memory_node.search.state_words import adjective_of, states_in
from memory_node.search.unit_table import Columns, UnitTable
from memory_node.search.vector_index import GraphSettings, VectorIndex

# Above `exact_below` units the score is worked out for what the graph finds nearest, and for the best few of the likely
# classes: so many of each, and so many for each answer that is wanted.
_NEAREST_MIN, _NEAREST_FOR_EACH = 100, 25
_OF_CLASSES_MIN, _OF_CLASSES_FOR_EACH = 40, 8
# Beyond the best k, in case that a row changes while it is read or is excluded by id.
_SPARE = 8


class Recall:
    """Hybrid search: what is meant (dense, lexical, class) times what is asked of it (state, recency, nearness).

    The score in [0, 1] is the belief that the object is what the request means. KARMA ranks by the cosine alone; set
    the other weights to 0 for that. Follows the short-term memory by `put` and `remove`. Safe to share between
    threads: writers wait for each other, readers for nobody.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        glosses: ClassGlosses | None = None,
        config: RetrievalConfig | None = None,
        picture_embedder: ClipEmbedder | None = None,
        graph: GraphSettings | None = None,
    ) -> None:
        """picture_embedder: embeds the units' pictures (`looks`), and requests beside them."""
        self._config = config or RetrievalConfig.load()
        self._embedder = CachingEmbedder(embedder)
        self._picture_embedder = picture_embedder
        self._classes = ClassScores(self._embedder, glosses or ClassGlosses.of(load_catalogue()), self._config)
        self._scoring = Scoring(self._classes, self._config)
        self._graph_settings = graph
        self._lock = threading.Lock()
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

        Its `embedding`, if it has one, is compared with requests; otherwise what it is, its states and its room are
        put into words and embedded.
        """
        self.put_all([unit])

    def put_all(self, units: Sequence[MemoryUnit], threads: int = 1) -> None:
        """Do as `put` for many units; threads: for the graph, if it is that many."""
        units = list({unit.object_id: unit for unit in units}.values())
        descriptions = {unit.object_id: _description(unit) for unit in units if unit.embedding is None}
        # A slow embedder must not hold up other writers.
        described = dict(zip(descriptions, self._classes.vectors_of(list(descriptions.values()))))
        with self._lock:
            rows, vectors = [], []
            for unit in units:
                # The index keeps the vector.
                kept = unit if unit.embedding is None else replace(unit, embedding=None)
                row = self._table.put(kept, self._classes.number_of(unit.object_class))
                description = descriptions.get(unit.object_id, "")
                if not description or self._description_of.get(row) != description:
                    vector = described[unit.object_id] if unit.embedding is None else unit.embedding
                    self._description_of[row] = description
                    if vector.any():
                        rows.append(row)
                        vectors.append(vector)
                    else:
                        self._words.remove(row)
                if self._looks is not None and unit.looks is not None:
                    self._looks.add(np.array([row]), unit.looks[None])
            if rows:
                self._words.add(np.array(rows, dtype=np.int64), np.stack(vectors), threads)

    @property
    def embeds_pictures(self) -> bool:
        """Whether there is an embedder of pictures."""
        return self._picture_embedder is not None

    def looks_of(self, crop_jpeg: bytes) -> NDArray[np.float32] | None:
        """Return the unit vector of a unit's picture, or None without an embedder of pictures."""
        if self._picture_embedder is None or not crop_jpeg:
            return None
        return np.asarray(self._picture_embedder.embed_crops([crop_jpeg])[0])

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
        if unit is None:
            self.remove(object_id)
        else:
            self.put(unit)

    def clear(self) -> None:
        """Take every unit out."""
        with self._lock:
            exact_below, pictures = self._config.exact_below, self._picture_embedder
            self._table = UnitTable()
            self._words = VectorIndex(self._classes.dimension, exact_below, self._graph_settings)
            self._looks = VectorIndex(pictures.dimension, exact_below, self._graph_settings) if pictures else None
            self._description_of: dict[int, str] = {}

    # --- readers ---------------------------------------------------------------------------------

    def rank(
        self, query: FindQuery, now_ns: int, source: str = "short_term", frame_verified: bool = True
    ) -> Recollection:
        """Return the best `query.k` units, best first; none with status UNKNOWN when nothing fits well enough.

        query.states is a filter; states that the text speaks of count against objects that are not known to have
        them. source: what the answers say of where they are from. frame_verified: whether the map frame is trusted.
        """
        table, words = self._table, self._words
        columns = table.columns()
        if not len(table):
            return unknown(query, "memory is empty")
        request = self._request(query, now_ns, columns.epoch_ns, table)
        rows, own = self._candidates(request, columns, table, words)
        if not len(rows):
            return unknown(query, "nothing remembered passes the query's filters")
        numbers = columns.class_numbers[rows]
        cosines = log_odds = None
        if request.fit is not None:
            cosines = self._scoring.cosines(request, numbers, own)
            log_odds = self._scoring.log_odds(request, numbers, cosines)
            if request.picture_vector is not None and self._looks is not None:
                looks = self._looks.cosines_of(rows, request.picture_vector)
                log_odds += self._scoring.picture_evidence(looks.astype(np.float64))
            likely = self._scoring.likely(log_odds)
            if not len(likely):
                likely = np.array([np.argmax(log_odds)])
            rows, cosines, log_odds = rows[likely], cosines[likely], log_odds[likely]
        scores = self._scoring.scores(request, columns.facts[rows], log_odds, cosines)
        return self._answers(query, columns, rows, scores, query.as_of_ns or now_ns, source, frame_verified)

    def classes_named(self, text: str) -> frozenset[str]:
        """Return the classes that a text names, wanted or not: what a task is about."""
        return frozenset(self._classes.mentioned(text))

    def _request(self, query: FindQuery, now_ns: int, epoch_ns: int, table: UnitTable) -> Request:
        vector = fit = picture_vector = None
        if query.text:
            phrases = RequestPhrases.of(query.text)
            # A unit's own words tell its room, but not what it stands on.
            own = phrases.wanted if self._classes.mentioned(phrases.place) else phrases.request
            vectors = np.asarray(self._embedder.embed(list(dict.fromkeys([own, phrases.wanted]))))
            vector, fit = vectors[0], self._classes.fit(phrases, vectors[-1])
            if self._picture_embedder is not None:
                picture_vector = np.asarray(self._picture_embedder.embed([query.text])[0])
        wanted = self._classes.same_class(query.object_class) if query.object_class else None
        area = table.area_number(query.area_id)
        states, since_ns = states_in(query.text), query.as_of_ns - epoch_ns
        return Request(query, now_ns - epoch_ns, since_ns, vector, fit, picture_vector, states, wanted, area)

    def _candidates(
        self, request: Request, columns: Columns, table: UnitTable, words: VectorIndex
    ) -> tuple[Rows, Floats | None]:
        """Return the rows to score, and the cosine of each one's own words with the request."""
        cosines = None if request.vector is None else words.cosines(request.vector)
        if request.vector is None or cosines is not None:
            rows = np.flatnonzero(self._scoring.passing(request, columns.facts, columns.class_numbers))
            if cosines is None:
                return rows, None
            # A row that was added since the columns were read is not there yet, and the other way round.
            rows = rows[: np.searchsorted(rows, len(cosines))]
            return rows, cosines[rows].astype(np.float64)
        end, k = len(columns.facts), request.query.k
        nearest, near_cosines = words.search(request.vector, max(_NEAREST_MIN, _NEAREST_FOR_EACH * k))
        known = nearest < end
        nearest, near_cosines = nearest[known], near_cosines[known]
        passes = self._scoring.passing(request, columns.facts[nearest], columns.class_numbers[nearest])
        others = self._best_of_classes(request, table, max(_OF_CLASSES_MIN, _OF_CLASSES_FOR_EACH * k))
        others = np.setdiff1d(others[others < end], nearest)
        rows = np.concatenate([nearest[passes], others])
        cosines = np.concatenate([near_cosines[passes], words.cosines_of(others, request.vector)])
        return rows, cosines.astype(np.float64)

    def _best_of_classes(self, request: Request, table: UnitTable, count: int) -> Rows:
        """Return the best `count` rows of the classes that fit, their own words left out of account.

        A class is not looked at when no unit of it can be among the best k any more.
        """
        assert request.fit is not None
        scoring, k = self._scoring, max(1, request.query.k)
        numbers = np.arange(len(request.fit.cosines), dtype=np.int32)
        log_odds = scoring.log_odds(request, numbers, scoring.cosines(request, numbers, None))
        best_rows, best = np.empty(0, dtype=np.int64), np.empty(0)
        for place in np.argsort(-log_odds):
            belief = 1.0 / (1.0 + np.exp(-np.clip(log_odds[place], -30.0, 30.0)))
            if len(best) and (belief < self._config.abstain_below or (len(best) >= k and belief < best[k - 1])):
                break
            rows, facts = table.of_class(int(numbers[place]))
            of_class = numbers[place : place + 1]
            passes = scoring.passing(request, facts, of_class)
            if not passes.any():
                continue
            if not passes.all():
                rows, facts = rows[passes], facts[passes]
            scores = scoring.scores(
                request, facts, log_odds[place : place + 1], scoring.cosines(request, of_class, None)
            )
            kept = _largest(scores, count)
            rows, best = np.concatenate([best_rows, rows[kept]]), np.concatenate([best, scores[kept]])
            kept = _largest(best, count)
            best_rows, best = rows[kept], best[kept]
        return best_rows

    def _answers(
        self,
        query: FindQuery,
        columns: Columns,
        rows: Rows,
        scores: Floats,
        stamp_ns: int,
        source: str,
        frame_verified: bool,
    ) -> Recollection:
        k = max(1, query.k)
        found = []
        for place in _largest(scores, k + _SPARE + len(query.exclude_ids)):
            unit = columns.units[rows[place]]
            if unit is not None and unit.object_id not in query.exclude_ids:
                found.append((unit, float(scores[place])))
        if not found:
            return unknown(query, "nothing remembered passes the query's filters")
        if found[0][1] < self._config.abstain_below:
            return too_far(query, *found[0])
        kept = [entry for entry in found[:k] if entry[1] >= self._config.abstain_below]
        answers = tuple(answer_of(unit, score, stamp_ns, source, frame_verified) for unit, score in kept)
        return recollection_of(query, answers)


def _largest(scores: Floats, count: int) -> NDArray[np.int64]:
    """Return the places of the `count` largest scores, the largest first, the earlier of equals first."""
    if count < len(scores):
        places = np.sort(np.argpartition(-scores, count)[:count])
        return places[np.argsort(-scores[places], kind="stable")]
    return np.argsort(-scores, kind="stable")


def _description(unit: MemoryUnit) -> str:
    """Return a unit in a few words: "clean mug in the kitchen"."""
    states = [adjective_of(belief.state) for belief in unit.states if unit.has_state(belief.state)]
    place = [f"in the {unit.room_name}"] if unit.room_name else []
    return " ".join([*states, spoken(unit.object_class), *place])
