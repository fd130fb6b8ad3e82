"""Finds the steps and propositions that answer a question: two channels, then links, then two steps at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.retrieval.statement_rows import StatementRows, is_part_of_names
from memory_node.knowledge.retrieval.step_scores import Question, StepScores, make_question, score_steps

Floats = NDArray[np.float64]


class SharedConcepts:
    """The rare concepts of steps that one question does not name itself; each step is read once.

    most: rows that may mention a rare one. A step whose subject more steps have than that, such as a speaker, has none.
    """

    def __init__(self, rows: StatementRows, question: Question, most: int) -> None:
        self._rows, self._question, self._most = rows, question, most
        self._of: dict[int, dict[str, int]] = {}

    def of(self, step: int) -> dict[str, int]:
        """Return a step's rare concepts, with how many rows mention each."""
        if step not in self._of:
            # Of two turns of a talk that both speak of "a picnic" none is about it: the speaker is their subject.
            speaks_much = self._rows.by_subject.count(self._rows.subject_of(step)) > self._most
            rare = {} if speaks_much else self._rows.rare_concepts(step, self._most)
            self._of[step] = {one: count for one, count in rare.items() if not self._question.holds(one)}
        return self._of[step]

    def steps_sharing(self, steps: Iterable[int]) -> list[int]:
        """Return the steps that share a concept with one of these, those of the rarest first."""
        counts: dict[str, int] = {}
        for step in steps:
            counts |= self.of(step)
        rarest = sorted(counts, key=lambda one: (counts[one], one))
        return [self._rows.step_of(row) for one in rarest for row in self._rows.by_concept.all(one)]

    def between(self, steps: Sequence[int]) -> Floats:
        """Return (n, n) how rare the rarest concept is that two steps share, 0 to 1; 0 where they share none."""
        places: dict[str, list[int]] = {}
        for place, step in enumerate(steps):
            for concept in self.of(step):
                places.setdefault(concept, []).append(place)
        shared = np.zeros((len(steps), len(steps)))
        total = math.log(max(2, len(self._rows)))
        for concept, held in places.items():
            if len(held) > 1:
                strength = 1.0 - math.log(self.of(steps[held[0]])[concept]) / total
                for one, other in permutations(held, 2):
                    shared[one, other] = max(shared[one, other], strength)
        return shared


# Steps of a search from which links are followed.
_FOLLOWED = 12
# Weaker links are ignored: nearly every step is about their subject.
_LEAST_LINK = 0.2
# A concept that is less rare links no steps.
_LEAST_SHARED = 0.5
# The share of the question's words that a step has to add to its partner's, for a shared concept to count in full.
_WHOLE_GAIN = 0.15
# Factor on the scores of steps that were not scored in pairs.
_BEHIND = 1e3


@dataclass(frozen=True)
class Hit:
    """A step that answers, with its best proposition; score: as the value function has it."""

    step: str
    statement: Proposition
    score: float


class Retriever:
    """Reads the graph; not thread-safe."""

    def __init__(self, rows: StatementRows, config: KnowledgeConfig) -> None:
        self._rows = rows
        self._config = config

    def search(self, text: str, vector: NDArray[np.float32], k: int, hops: int | None = None) -> list[Hit]:
        """Return up to k steps, best first. vector: the question's, unit length. hops: instead of the config's."""
        if not len(self._rows) or k < 1:
            return []
        question = make_question(text, vector, self._rows)
        steps = self._candidates(question, max(k, self._config.channel))
        if not steps:
            return []
        found = score_steps(self._rows, question, steps, self._config)
        weighs = self._config.concept_weight > 0.0
        concepts = SharedConcepts(self._rows, question, self._config.fan_out) if weighs else None
        values = found.relevance
        for hop in range(1, self._config.hops if hops is None else hops):
            best = np.argsort(-values, kind="stable")[:_FOLLOWED].tolist()
            enough = _cover(question, found, best[:2])
            if enough and hop > 1:
                break
            more = self._linked(found, best) + ([] if enough else self._continued(question, found, best[:2]))
            if concepts is not None:
                more += concepts.steps_sharing(found.steps[place] for place in best)
            found = self._with_more(question, found, values, more)
            values = self._two_at_a_time(found, question, concepts)
        order = np.lexsort((-found.relevance, -values))[:k]
        names = self._rows.steps.name
        return [Hit(names(found.steps[i]), self._rows.statement(found.best[i]), float(values[i])) for i in order]

    def _with_more(self, question: Question, found: StepScores, values: Floats, more: list[int]) -> StepScores:
        """Return the best steps so far and new ones, scored together; at most `paired` of each."""
        most = self._config.paired
        known = set(found.steps)
        new = [step for step in dict.fromkeys(more) if step not in known][:most]
        if not new:
            return found
        kept = [found.steps[place] for place in np.argsort(-values, kind="stable")[:most]]
        return score_steps(self._rows, question, [*kept, *new], self._config)

    def _candidates(self, question: Question, most: int) -> list[int]:
        """Return the steps of the union of both channels and of the subjects that the question names."""
        rows, fan_out = self._rows, self._config.fan_out
        by_meaning, _ = rows.vectors.search(question.vector, most)
        by_words, _ = rows.words.search(question.words, most)
        steps = [rows.step_of(row) for row in [*by_meaning.tolist(), *by_words.tolist()]]
        for subject in sorted(question.subjects):
            if rows.by_subject.count(subject) <= fan_out:
                steps += rows.by_subject.first(subject, fan_out)
        return list(dict.fromkeys(steps))

    def _continued(self, question: Question, found: StepScores, places: Sequence[int]) -> list[int]:
        """Return the steps nearest to the question and the chosen ones together (concatenation, as one meaning)."""
        together = question.vector + found.meanings[places].sum(axis=0)
        vector = np.asarray(together / max(float(np.linalg.norm(together)), 1e-9), dtype=np.float32)
        nearest, _ = self._rows.vectors.search(vector, self._config.fan_out)
        return [self._rows.step_of(row) for row in nearest.tolist()]

    def _linked(self, found: StepScores, best: Sequence[int]) -> list[int]:
        """Return steps that the best ones name, or that name what the best ones are about. best: their places."""
        rows, fan_out = self._rows, self._config.fan_out
        steps: list[int] = []
        for place in best:
            for subject in sorted(rows.named_subjects(found.steps[place])):
                if rows.by_subject.count(subject) <= fan_out:
                    steps += rows.by_subject.first(subject, fan_out)
            own = found.subjects[place]
            if own and rows.by_subject.count(own) <= fan_out:
                steps += [rows.step_of(row) for row in rows.by_concept.first(own, fan_out)]
        return steps

    def _two_at_a_time(self, found: StepScores, question: Question, concepts: SharedConcepts | None) -> Floats:
        """Return each step's value alone or with the partner that suits it best.

        Partners are linked, share a rare concept, or the question names what both are about, as in a comparison.
        """
        config = self._config
        chosen = np.argsort(-found.relevance, kind="stable")[: config.paired]
        relevance, meanings = found.relevance[chosen], found.meanings[chosen].astype(np.float64)
        covers, named = found.covers[chosen], found.named[chosen]
        shares = question.weights / max(float(question.weights.sum()), 1e-9)
        alone = covers @ shares
        covered = alone[:, None] + alone[None, :] - (covers * shares) @ covers.T
        cosines = meanings @ question.vector
        lengths = np.sqrt(np.maximum(2.0 + 2.0 * (meanings @ meanings.T), 1e-9))
        likeness = (cosines[:, None] + cosines[None, :]) / lengths
        steps = [found.steps[at] for at in chosen]
        links = self._links(steps, [found.subjects[at] for at in chosen])
        partner = np.where(links >= _LEAST_LINK, _through_names(relevance, links), relevance[None, :])
        value = (relevance[:, None] + partner) / 2.0 + config.link_weight * links
        value += config.coverage_weight * covered + config.joint_likeness_weight * likeness
        partners = (links >= _LEAST_LINK) | (named[:, None] & named[None, :]) | np.eye(len(chosen), dtype=np.bool_)
        if concepts is not None:
            shared = concepts.between(steps)
            partners |= shared >= _LEAST_SHARED
            # A step that only says again what its partner says is no second hop.
            gains = covered - np.maximum(alone[:, None], alone[None, :])
            value += config.concept_weight * shared * np.minimum(gains / _WHOLE_GAIN, 1.0)
        values = found.relevance - _BEHIND
        values[chosen] = np.where(partners, value, -np.inf).max(axis=1)
        return values

    def _links(self, steps: list[int], subjects: list[str]) -> Floats:
        """Return (n, n) how strongly steps are linked, 0 to 1: one names the other's subject, and few are about it."""
        rows = self._rows
        by_subject: dict[str, list[int]] = {}
        for place, subject in enumerate(subjects):
            if is_part_of_names(subject):
                by_subject.setdefault(subject, []).append(place)
        links = np.zeros((len(steps), len(steps)))
        total = math.log(max(2, len(rows.steps)))
        names = [rows.names_of(step) for step in steps]
        for subject, about in by_subject.items():
            named, strength = f" {subject} ", 1.0 - math.log(max(1, rows.by_subject.count(subject))) / total
            for place in [place for place, text in enumerate(names) if named in text]:
                for other in about:
                    if other != place:
                        links[place, other] = links[other, place] = max(links[place, other], strength)
        return links


def _through_names(relevance: Floats, links: Floats) -> Floats:
    """Return (n, n) each partner's relevance for a step: its own, or the mean of its own and that of a third step to
    which a name links it, if that is more. So the last hop of three is found, whose own words answer little.

    relevance (n,); links (n, n): 0 to 1.
    """
    thirds = np.where(links >= _LEAST_LINK, relevance[:, None], -np.inf)
    order = np.argsort(-thirds, axis=0)
    places = np.arange(len(relevance))
    # [i, j]: the best step that is linked with j and is not i.
    best = np.broadcast_to(thirds[order[0], places], thirds.shape).copy()
    best[order[0], places] = thirds[order[min(1, len(order) - 1)], places]
    return np.asarray(np.maximum(relevance[None, :], (relevance[None, :] + best) / 2.0))


def _cover(question: Question, found: StepScores, best: Sequence[int]) -> bool:
    """Return whether the best two steps hold every word of the question between them (PlugMem's MultiHopCtrl)."""
    return bool(found.covers[best].any(axis=0).all()) if question.words else True
