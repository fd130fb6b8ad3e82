"""The one ranking of remembered things: short-term and long-term memory answer alike, or abstain alike."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import FindQuery, ObjectAnswer, Recollection
from memory_node.domain.ports import TextEmbedder
from memory_node.search.answers import recollection_of, too_far, unknown
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.class_scores import ClassScores
from memory_node.search.clip_embedder import ClipEmbedder
from memory_node.search.config import RetrievalConfig
from memory_node.search.fact_columns import Candidates, Facts, Floats, Rows, by_class
from memory_node.search.glosses import ClassGlosses
from memory_node.search.request import PlaceMention, Request
from memory_node.search.request_phrases import RequestPhrases
from memory_node.search.request_words import tokens
from memory_node.search.scoring import Scoring
from memory_node.search.state_words import states_in

# Candidates beyond the best k, because one may leave while it is read, or be excluded by its id.
_SPARE = 8
_NOT_MEANT = -30.0  # log-odds


class View(Protocol):
    """The things of one memory for one request; a row is the memory's own number of a thing."""

    def __len__(self) -> int:
        """How many things the memory holds, whatever the request is."""

    def candidates(self) -> Candidates:
        """Return the things that the query's filters let through and that may fit; `exclude_ids` is not looked at."""

    def looks(self, rows: Rows, picture_vector: NDArray[np.float32]) -> Floats | None:
        """Return the cosines (n,) of things' pictures with the request, 0 where there is none; None: of no thing."""

    def facts(self, rows: Rows) -> Facts:
        """Return what else is known of things (n,)."""

    def answer(self, row: int, score: float) -> ObjectAnswer | None:
        """Return a thing under the answer contract; None for one that has left meanwhile."""


class Ranker:
    """Hybrid search: what is meant (dense, lexical, class) times what is asked of it (state, place), and the order by
    that times probability, recency and nearness.

    KARMA ranks by the cosine alone; set the other weights to 0 for that. Thread-safe.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        glosses: ClassGlosses | None = None,
        config: RetrievalConfig | None = None,
        picture_embedder: ClipEmbedder | None = None,
    ) -> None:
        """picture_embedder: embeds things' pictures, and requests beside them."""
        self.config = config or RetrievalConfig()
        self.embedder = CachingEmbedder(embedder)
        self.classes = ClassScores(self.embedder, glosses or ClassGlosses.of(load_catalogue()), self.config)
        self.scoring = Scoring(self.classes, self.config)
        self._picture_embedder = picture_embedder

    @property
    def picture_dimension(self) -> int:
        """Length of the vectors of pictures; 0 where nothing embeds pictures."""
        return self._picture_embedder.dimension if self._picture_embedder is not None else 0

    def looks_of(self, crop_jpeg: bytes) -> NDArray[np.float32] | None:
        """Return the unit vector of a thing's picture, or None without an embedder of pictures."""
        if self._picture_embedder is None or not crop_jpeg:
            return None
        return np.asarray(self._picture_embedder.embed_crops([crop_jpeg])[0])

    def classes_named(self, text: str) -> frozenset[str]:
        """Return the classes that a text names, wanted or not: what a task is about."""
        return frozenset(self.classes.mentioned(text))

    def read(self, query: FindQuery, now_ns: int) -> Request:
        """Return what a query means, for `rank`; its words are embedded here."""
        now_ns = query.as_of_ns or now_ns
        wanted = self.classes.same_class(query.object_class) if query.object_class else None
        if not query.text:
            return Request(query, now_ns, wanted_classes=wanted)
        phrases = RequestPhrases.of(query.text)
        place, states = None, states_in(query.text)
        if phrases.where:
            place = PlaceMention(frozenset(tokens(phrases.where)), self.classes.mask(phrases.where))
        if not phrases.wanted:
            return Request(query, now_ns, states=states, wanted_classes=wanted, place=place)
        texts = {"vector": phrases.wanted, "purpose": phrases.purpose, "deed": phrases.deed}
        texts = {name: text for name, text in texts.items() if text}
        vectors = dict(zip(texts, map(np.asarray, self.embedder.embed(list(texts.values())))))
        picture = None
        if self._picture_embedder is not None:
            picture = np.asarray(self._picture_embedder.embed([query.text])[0])
        fit = self.classes.fit(phrases, **vectors)
        return Request(query, now_ns, vectors["vector"], fit, picture, states, wanted, place)

    def rank(self, request: Request, view: View) -> Recollection:
        """Return the best `query.k` things of a view, best first; UNKNOWN and none when nothing fits well enough.

        query.states is a filter; states and places that the text speaks of count against things that are not known to
        be so, or there.
        """
        query = request.query
        if not len(view):
            return unknown(query, "memory is empty")
        found = view.candidates()
        if not len(found.rows):
            return unknown(query, "nothing remembered passes the query's filters")
        rows, cosines, log_odds = self._kinds(request, view, found)
        facts = view.facts(rows)
        fits = self.scoring.fit(request, facts, log_odds, cosines)
        # A thing that does not fit is no answer, even if it is near and sure.
        scores = np.where(fits >= self.scoring.least_fit, self.scoring.scores(request, facts, fits), -1.0)
        answers = self._best(query, view, rows, scores)
        if answers:
            return recollection_of(query, answers)
        closest = int(np.argmax(fits))
        nearest = view.answer(int(rows[closest]), float(fits[closest]))
        if nearest is None or nearest.object_id in query.exclude_ids:
            return unknown(query, "nothing remembered passes the query's filters")
        return too_far(query, nearest)

    def _kinds(self, request: Request, view: View, found: Candidates) -> tuple[Rows, Floats | None, Floats | None]:
        """Return the rows whose kind may be meant, or the one most like it, with their cosines and log-odds."""
        if request.fit is None:
            return found.rows, None, None
        cosines = self.scoring.cosines(request, found)
        log_odds = self.scoring.log_odds(request, found.class_numbers, cosines)
        rivals = self.scoring.no_poor_rival(log_odds) | by_class(request.fit.named, found.class_numbers)
        if request.picture_vector is not None:
            looks = view.looks(found.rows, request.picture_vector)
            if looks is not None:
                log_odds += self.scoring.picture_evidence(looks)
                rivals |= self.scoring.no_poor_rival(log_odds)  # a green mug stays an answer beside a red one
        # A bottle to be opened is no opener, nor is what is much less like one than the bottle.
        log_odds = np.where(by_class(request.fit.used_on, found.class_numbers), _NOT_MEANT, log_odds)
        likely = np.flatnonzero(self.scoring.likely(log_odds) & rivals)
        if not len(likely):
            likely = np.array([np.argmax(log_odds)])
        return found.rows[likely], cosines[likely], log_odds[likely]

    def _best(self, query: FindQuery, view: View, rows: Rows, scores: Floats) -> tuple[ObjectAnswer, ...]:
        answers: list[ObjectAnswer] = []
        for place in largest(scores, query.k + _SPARE + len(query.exclude_ids)):
            if scores[place] < 0.0:
                break
            answer = view.answer(int(rows[place]), float(scores[place]))
            if answer is not None and answer.object_id not in query.exclude_ids:
                answers.append(answer)
                if len(answers) == query.k:
                    break
        return tuple(answers)


def largest(scores: Floats, count: int) -> Rows:
    """Return the places of the `count` largest scores, the largest first, the earlier of equals first."""
    if count < len(scores):
        places = np.sort(np.argpartition(-scores, count)[:count])
        return places[np.argsort(-scores[places], kind="stable")]
    return np.argsort(-scores, kind="stable")
