"""Ranks remembered things by how well they fit a request, and puts the best under the answer contract."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.clock import ago, span
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.ports import TextEmbedder
from memory_node.search.class_scores import ClassScores
from memory_node.search.clip_embedder import ClipEmbedder
from memory_node.search.config import RetrievalConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.glosses import ClassGlosses
from memory_node.search.request_phrases import RequestPhrases
from memory_node.search.request_words import states_in, tokens
from memory_node.search.scoring import Candidates, Facts, Floats, PlaceMention, Request, Rows, Scoring, by_class

# Below this an object is more likely gone than there.
_PROBABLY_THERE = 0.5
# A stamp so far ahead of the clock is of another clock: before a restart, a reset, or a recording's loop.
_AHEAD_S = 1.0
# Two answers whose scores differ by less than this fit equally well.
_TIE = 0.05


def answer_of(unit: MemoryUnit, score: float, stamp_ns: int, source: str, frame_verified: bool) -> ObjectAnswer:
    """Return a thing under the answer contract; stamp_ns: as of when; source: "short_term" or "long_term"."""
    answer = ObjectAnswer(
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
        status=AnswerStatus.OK,
        states=unit.states,
        frame_id=unit.frame_id,
        evidence_frame=unit.frame_id,
        area_id=unit.area_id,
        room_name=unit.room_name,
        support_id=unit.support_id,
        inside=unit.inside,
        image_path=unit.image_path,
    )
    status, explanation = _judged(answer, frame_verified)
    return replace(answer, status=status, explanation=explanation)


def _judged(answer: ObjectAnswer, frame_verified: bool) -> tuple[AnswerStatus, str]:
    """Return how far an answer may be trusted and why; no explanation where nothing speaks against it."""
    if not frame_verified:
        said = (
            "the map may have another origin since this was seen; confirm relocalisation first (confirm_relocalization)"
        )
        return AnswerStatus.FRAME_NOT_VERIFIED, said
    doubtful = answer.existence < _PROBABLY_THERE
    if doubtful and answer.last_missed_ns:
        ago_s = (answer.stamp_ns - answer.last_missed_ns) * 1e-9
        return AnswerStatus.PROBABLY_GONE, f"looked for in vain {ago(ago_s)}, last seen {ago(answer.age_s)}"
    doubts = []
    ahead_s = (answer.last_seen_ns - answer.stamp_ns) * 1e-9
    if ahead_s > _AHEAD_S:
        doubts.append(f"seen {span(ahead_s)} from now by the clock, so with a clock that was another one")
    if doubtful:
        doubts.append(f"sure to {answer.existence:.0%} only: hardly seen, and not looked for since")
    if answer.class_probability < _PROBABLY_THERE:
        doubts.append(f"a {answer.object_class} to {answer.class_probability:.0%} only")
    return AnswerStatus.OK, "; ".join(doubts)


def recollection_of(query: FindQuery, answers: tuple[ObjectAnswer, ...]) -> Recollection:
    """Return the answers, best first, with how well the best one fits and which others fit as well."""
    best = answers[0]
    text = f"{best.object_class} fits {asked(query)} with {best.score:.2f}"
    rivals = [answer for answer in answers[1:] if math.isclose(answer.score, best.score, abs_tol=_TIE)]
    if rivals:
        text += f"; so do {len(rivals)} more: " + ", ".join(dict.fromkeys(answer.object_class for answer in rivals))
    return Recollection(answers, best.status, "; ".join(filter(None, (text, best.explanation))))


def unknown(query: FindQuery, reason: str) -> Recollection:
    """Return that memory does not know, and why."""
    return Recollection((), AnswerStatus.UNKNOWN, f"no answer to {asked(query)}: {reason}")


def asked(query: FindQuery) -> str:
    """Return a query in words."""
    parts = [repr(query.text)] if query.text else []
    parts += [f"class {query.object_class}"] if query.object_class else []
    parts += [f"{', '.join(map(str, query.states))}"] if query.states else []
    parts += [f"in {query.area_id}"] if query.area_id else []
    return ", ".join(parts) or "the query"


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
        return unknown(query, f"the closest, {nearest.object_class}, fits with {nearest.score:.2f} only")

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
