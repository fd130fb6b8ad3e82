"""The bank of lessons: found by the words of a task or by what they are about, bounded, and judged by their worth."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.config import BankLimits
from memory_node.lessons.lesson import Lesson, Wording, with_evidence
from memory_node.lessons.optimizer.attempt import Attempt, Candidate
from memory_node.lessons.plugmem import intents_of
from memory_node.lessons.whereabouts import of_other_things, says_something, written

# Recent outcomes that stand for the tasks before a lesson existed.
_OUTCOMES_KEPT = 256
# Least cosine of two intents that are about the same (PlugMem).
_SAME_INTENT = 0.7
# A lesson that was followed and did not help so often in a row is given up.
MOST_CONTRADICTIONS = 3


@dataclass(frozen=True)
class Change:
    """What a candidate did to the bank. added: the operation as it was carried out, ADD or UPDATE. evicted: the lesson
    that was dropped for it."""

    lesson: Lesson
    added: bool
    evicted: Lesson | None = None


class LessonBank:
    """Not thread-safe. embedder: of unit vectors; one encoder serves situations, tasks and neighbourhoods."""

    def __init__(self, embedder: TextEmbedder, limits: BankLimits | None = None, make_id: IdSource = new_id) -> None:
        self._embedder = embedder
        self.limits = limits or BankLimits()
        self._make_id = make_id
        self._lessons: dict[str, Lesson] = {}
        # Of each lesson the vectors (n, dimension) of the tasks that it is found by; zeros (1, dimension) for none.
        self._keys: dict[str, NDArray[np.float32]] = {}
        self._outcomes: deque[tuple[NDArray[np.float32], float]] = deque(maxlen=_OUTCOMES_KEPT)

    def __len__(self) -> int:
        return len(self._lessons)

    def __iter__(self) -> Iterator[Lesson]:
        return iter(tuple(self._lessons.values()))

    @property
    def mean_outcome(self) -> float:
        """The mean outcome of recent tasks, one half before the first."""
        return float(np.mean([outcome for _, outcome in self._outcomes])) if self._outcomes else 0.5

    def get(self, lesson_id: str) -> Lesson | None:
        """Return a lesson, None when there is none of that id."""
        return self._lessons.get(lesson_id)

    def load(self, lessons: Iterable[Lesson]) -> None:
        """Take over stored lessons, each in the place of the one of its id; of more than it may hold, the newest. An
        older program stored notes that say nothing any more: these are left out."""
        known = self._lessons | {lesson.id: lesson for lesson in lessons if says_something(lesson)}
        newest = sorted(known.values(), key=lambda lesson: lesson.wordings[-1].stamp_ns)[-self.limits.capacity :]
        self._lessons, self._keys = {lesson.id: lesson for lesson in newest}, self._keys_of(newest)

    def retrieve(self, query: str, least: float = -1.0) -> tuple[Lesson, ...]:
        """Return the lessons whose tasks are nearest to a task, the nearest first; at most `limits.shown`, of a cosine
        of at least `least`."""
        if not self._lessons or not query.strip():
            return ()
        scores = self._scores(self.encode(query))
        nearest = self._written(scores)[: self.limits.shown]
        return tuple(one for one in nearest if scores[one.id] >= least)

    def ways_to(self, intent: str, most: int) -> tuple[Lesson, ...]:
        """Return the ways of intents that are nearly this one (PlugMem): the nearest first, of ways as near those that
        were worth most."""
        if not intent.strip():
            return ()
        scores = self._scores(self.encode(intent))
        near = [one for one in self if intents_of(one) and scores[one.id] >= _SAME_INTENT]
        return tuple(sorted(near, key=lambda one: (round(scores[one.id], 3), *self._worth(one)), reverse=True)[:most])

    def encode(self, query: str) -> NDArray[np.float32]:
        """Return the unit vector of a task's text."""
        return np.asarray(self._embedder.embed([query])[0], np.float32)

    def apply(self, candidate: Candidate, shown: Sequence[Lesson], attempt: Attempt, by: str) -> Change:
        """Take a candidate of an attempt over. shown: what its writer saw; UPDATE replaces that lesson, and its key,
        unless both are about things and that one is about another: then the candidate is added. In a full bank an
        addition replaces the lesson about the same task. by: who wrote it.

        Raises:
            NotFoundError: the lesson that it replaces is not in the bank any more.
        """
        wording = Wording(attempt.query, candidate.value, attempt.episode_id, attempt.stamp_ns, attempt.task_type)
        vector = self.encode(attempt.query)
        replaced = None if candidate.replaces is None else shown[candidate.replaces]
        if replaced is not None and of_other_things(replaced.text, candidate.value):
            replaced = None
        elif replaced is None and len(self._lessons) >= self.limits.capacity:
            scores = self._scores(vector)
            same = (one for one in self._written(scores)[:1] if scores[one.id] >= self.limits.same)
            replaced = next(same, None)
        if replaced is not None:
            known = self.get(replaced.id)
            if known is None:
                raise NotFoundError(f"lesson {replaced.id!r} is not in the bank any more")
            return Change(self._keep(written(known.id, wording, by, known), vector[None]), added=False)
        evicted = self._make_room()
        lesson = written(self._make_id(), wording, by)
        for earlier, outcome in self._outcomes:
            if float(earlier @ vector) >= self.limits.related:
                lesson = replace(lesson, withheld=lesson.withheld.plus(outcome))
        return Change(self._keep(lesson, vector[None]), added=True, evicted=evicted)

    def note_outcome(
        self, query: str, outcome: float, given: Collection[str]
    ) -> tuple[tuple[Lesson, ...], tuple[Lesson, ...]]:
        """Count how a task went for the lessons that it was given, and for related ones that it was not.

        Return the lessons whose counts moved, and those that this proved bad: they are gone from the bank. outcome: in
        [0, 1].
        """
        vector = self.encode(query)
        scores = self._scores(vector)
        self._outcomes.append((vector, outcome))
        counted: dict[str, Lesson] = {}
        for lesson in self:
            if lesson.id in given:
                counted[lesson.id] = replace(lesson, given=lesson.given.plus(outcome))
            elif scores[lesson.id] >= self.limits.related:
                counted[lesson.id] = replace(lesson, withheld=lesson.withheld.plus(outcome))
        self._lessons |= counted
        bad = tuple(filter(self._is_bad, self))
        for lesson in bad:
            self.remove(lesson.id)
        return tuple(lesson for lesson in counted.values() if lesson not in bad), bad

    def note_followed(self, lesson_id: str, helped: bool, source: str, stamp_ns: int) -> Lesson | None:
        """Note how the step went that followed a lesson; return the lesson as it stands, None where it is gone.

        One that did not help MOST_CONTRADICTIONS times in a row is given up. source: "episode:step".
        """
        lesson = self.get(lesson_id)
        if lesson is None:
            return None
        if helped:
            lesson = replace(lesson, contradicted=0, helped_ns=max(stamp_ns, lesson.helped_ns))
        else:
            against = with_evidence(lesson.evidence_against, source)
            lesson = replace(lesson, contradicted=lesson.contradicted + 1, evidence_against=against)
        if lesson.contradicted >= MOST_CONTRADICTIONS:
            self.remove(lesson_id)
            return None
        self._lessons[lesson_id] = lesson
        return lesson

    def put(self, lesson: Lesson) -> Lesson | None:
        """Put a lesson in the place of the one of its id, or add it; return the one that went for it in a full bank."""
        evicted = self._make_room() if self.get(lesson.id) is None else None
        self._keep(lesson, self._keys_of([lesson])[lesson.id])
        return evicted

    def remove(self, lesson_id: str) -> None:
        """Drop a lesson; nothing where there is none."""
        self._lessons.pop(lesson_id, None)
        self._keys.pop(lesson_id, None)

    def copy(self) -> LessonBank:
        """Return an independent copy, in which a candidate can be tried."""
        other = LessonBank(self._embedder, self.limits, self._make_id)
        other._lessons = dict(self._lessons)
        other._keys = dict(self._keys)
        other._outcomes = self._outcomes.copy()
        return other

    def _make_room(self) -> Lesson | None:
        """Drop the lesson of the least worth from a full bank, and return it."""
        worst = min(self, key=self._worth) if len(self) >= self.limits.capacity else None
        if worst is not None:
            self.remove(worst.id)
        return worst

    def _keep(self, lesson: Lesson, keys: NDArray[np.float32]) -> Lesson:
        self._keys[lesson.id] = keys
        self._lessons[lesson.id] = lesson
        return lesson

    def _keys_of(self, lessons: Sequence[Lesson]) -> dict[str, NDArray[np.float32]]:
        """Return the keys of lessons; see _keys."""
        found_by = {lesson.id: intents_of(lesson) or (lesson.situation,) for lesson in lessons}
        texts = list(dict.fromkeys(text for tasks in found_by.values() for text in tasks if text))
        vectors = dict(zip(texts, self._embedder.embed(texts))) if texts else {}
        vectors[""] = np.zeros(self._embedder.dimension, np.float32)
        return {
            key: np.stack([np.asarray(vectors[text], np.float32) for text in tasks]) for key, tasks in found_by.items()
        }

    def _written(self, scores: Mapping[str, float]) -> list[Lesson]:
        """Return the lessons that UMEM's writer wrote, best first; ways have a search of their own."""
        found = [one for one in self if one.situation and not intents_of(one)]
        return sorted(found, key=lambda one: -scores[one.id])

    def _scores(self, vector: NDArray[np.float32]) -> dict[str, float]:
        """Return how alike a task is to the nearest of each lesson, by id."""
        if not self._keys:
            return {}
        starts = np.cumsum([0, *map(len, self._keys.values())])[:-1]
        products = np.concatenate(list(self._keys.values())) @ vector
        return dict(zip(self._keys, np.maximum.reduceat(products, starts).tolist()))

    def _worth(self, lesson: Lesson) -> tuple[float, int]:
        return lesson.marginal_utility(self.mean_outcome), lesson.wordings[-1].stamp_ns

    def _is_bad(self, lesson: Lesson) -> bool:
        tried = lesson.given.trials >= self.limits.least_trials
        return tried and lesson.marginal_utility(self.mean_outcome) < self.limits.least_utility
