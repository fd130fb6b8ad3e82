"""The bank of lessons: found by the words of a task or by what they are about, bounded, and judged by their worth."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.config import BankLimits
from memory_node.lessons.lesson import Lesson, Wording, with_evidence
from memory_node.lessons.method import of_other_things, says_something, written
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.lessons.optimizer.candidate import Candidate
from memory_node.lessons.plugmem import intents_of

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
        self._limits = limits or BankLimits()
        self._make_id = make_id
        self._lessons: list[Lesson] = []
        # Of each lesson the vectors (n, dimension) of the tasks that it is found by; zeros (1, dimension) for none.
        self._keys: list[NDArray[np.float32]] = []
        self._outcomes: deque[tuple[NDArray[np.float32], float]] = deque(maxlen=_OUTCOMES_KEPT)

    def __len__(self) -> int:
        return len(self._lessons)

    def __iter__(self) -> Iterator[Lesson]:
        return iter(tuple(self._lessons))

    @property
    def limits(self) -> BankLimits:
        """How much it holds and shows."""
        return self._limits

    @property
    def mean_outcome(self) -> float:
        """The mean outcome of recent tasks, one half before the first."""
        return float(np.mean([outcome for _, outcome in self._outcomes])) if self._outcomes else 0.5

    def get(self, lesson_id: str) -> Lesson | None:
        """Return a lesson, None when there is none of that id."""
        return next((lesson for lesson in self._lessons if lesson.id == lesson_id), None)

    def load(self, lessons: Iterable[Lesson]) -> None:
        """Take over stored lessons, each in the place of the one of its id; of more than it may hold, the newest. An
        older program stored notes that say nothing any more: these are left out."""
        known = {lesson.id: lesson for lesson in (*self._lessons, *lessons) if says_something(lesson)}
        newest = sorted(known.values(), key=lambda lesson: lesson.wordings[-1].stamp_ns)[-self._limits.capacity :]
        self._lessons, self._keys = newest, self._keys_of(newest)

    def retrieve(self, query: str) -> tuple[Lesson, ...]:
        """Return the lessons whose tasks are nearest to a task, the nearest first; at most `limits.shown`."""
        return self.nearest(self.encode(query)) if self._lessons else ()

    def nearest(self, vector: NDArray[np.float32]) -> tuple[Lesson, ...]:
        """Return what `retrieve` does, for a text that is encoded already."""
        return tuple(self._lessons[index] for index in self._written(self._scores(vector))[: self._limits.shown])

    def ways_to(self, intent: str, most: int) -> tuple[Lesson, ...]:
        """Return the ways of intents that are nearly this one (PlugMem), the nearest first."""
        if not intent.strip():
            return ()
        scores = self._scores(self.encode(intent))
        order = np.argsort(-scores, kind="stable")
        near = (self._lessons[index] for index in order if scores[index] >= _SAME_INTENT)
        return tuple(islice((lesson for lesson in near if intents_of(lesson)), most))

    def related(self, query: str) -> tuple[Lesson, ...]:
        """Return the lessons that `retrieve` finds as far as their tasks are related to this one."""
        if not self._lessons or not query.strip():
            return ()
        vector = self.encode(query)
        scores = dict(zip((lesson.id for lesson in self._lessons), self._scores(vector)))
        return tuple(one for one in self.nearest(vector) if scores[one.id] >= self._limits.related)

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
        elif replaced is None and len(self._lessons) >= self._limits.capacity:
            scores = self._scores(vector)
            same = (at for at in self._written(scores)[:1] if scores[at] >= self._limits.same)
            replaced = next((self._lessons[at] for at in same), None)
        if replaced is not None:
            return Change(self._reword(replaced.id, wording, vector, by), added=False)
        evicted = self._make_room()
        return Change(self._add(wording, vector, by), added=True, evicted=evicted)

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
        counted: list[Lesson] = []
        for index, lesson in enumerate(self._lessons):
            if lesson.id in given:
                self._lessons[index] = replace(lesson, given=lesson.given.plus(outcome))
            elif scores[index] >= self._limits.related:
                self._lessons[index] = replace(lesson, withheld=lesson.withheld.plus(outcome))
            counted += [self._lessons[index]] if self._lessons[index] is not lesson else []
        bad = tuple(lesson for lesson in self._lessons if self._is_bad(lesson))
        for lesson in bad:
            self.remove(lesson.id)
        return tuple(lesson for lesson in counted if lesson not in bad), bad

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
        self._lessons[self._index(lesson_id)] = lesson
        return lesson

    def put(self, lesson: Lesson) -> Lesson | None:
        """Put a lesson in the place of the one of its id, or add it; return the one that went for it in a full bank."""
        evicted = self._make_room() if self.get(lesson.id) is None else None
        self.remove(lesson.id)
        self._append(lesson, self._keys_of([lesson])[0])
        return evicted

    def remove(self, lesson_id: str) -> None:
        """Drop a lesson; nothing where there is none."""
        index = self._index(lesson_id)
        if index >= 0:
            del self._lessons[index], self._keys[index]

    def copy(self) -> LessonBank:
        """Return an independent copy, in which a candidate can be tried."""
        other = LessonBank(self._embedder, self._limits, self._make_id)
        other._lessons = list(self._lessons)
        other._keys = list(self._keys)
        other._outcomes = self._outcomes.copy()
        return other

    def _make_room(self) -> Lesson | None:
        """Drop the lesson of the least worth from a full bank, and return it."""
        worst = min(self._lessons, key=self._worth) if len(self._lessons) >= self._limits.capacity else None
        if worst is not None:
            self.remove(worst.id)
        return worst

    def _append(self, lesson: Lesson, keys: NDArray[np.float32]) -> None:
        self._keys.append(keys)
        self._lessons.append(lesson)

    def _add(self, wording: Wording, vector: NDArray[np.float32], by: str) -> Lesson:
        lesson = written(self._make_id(), wording, by)
        for known, outcome in self._outcomes:
            if float(known @ vector) >= self._limits.related:
                lesson = replace(lesson, withheld=lesson.withheld.plus(outcome))
        self._append(lesson, vector[None])
        return lesson

    def _reword(self, lesson_id: str, wording: Wording, vector: NDArray[np.float32], by: str) -> Lesson:
        index = self._index(lesson_id)
        if index < 0:
            raise NotFoundError(f"lesson {lesson_id!r} is not in the bank any more")
        self._lessons[index] = written(lesson_id, wording, by, self._lessons[index])
        self._keys[index] = vector[None]
        return self._lessons[index]

    def _keys_of(self, lessons: Sequence[Lesson]) -> list[NDArray[np.float32]]:
        """Return the keys of lessons; see _keys."""
        found_by = [intents_of(lesson) or (lesson.situation,) for lesson in lessons]
        texts = list(dict.fromkeys(text for tasks in found_by for text in tasks if text))
        vectors = dict(zip(texts, self._embedder.embed(texts))) if texts else {}
        vectors[""] = np.zeros(self._embedder.dimension, np.float32)
        return [np.stack([np.asarray(vectors[text], np.float32) for text in tasks]) for tasks in found_by]

    def _written(self, scores: NDArray[np.float32]) -> list[int]:
        """Return where the lessons are that UMEM's writer wrote, best first; ways have a search of their own."""
        order = np.argsort(-scores, kind="stable").tolist()
        return [at for at in order if self._lessons[at].situation and not intents_of(self._lessons[at])]

    def _index(self, lesson_id: str) -> int:
        return next((number for number, lesson in enumerate(self._lessons) if lesson.id == lesson_id), -1)

    def _scores(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how alike a task is to each lesson's nearest."""
        if not self._keys:
            return np.zeros(0, np.float32)
        starts = np.cumsum([0, *map(len, self._keys[:-1])])
        return np.asarray(np.maximum.reduceat(np.concatenate(self._keys) @ vector, starts), np.float32)

    def _worth(self, lesson: Lesson) -> tuple[float, int]:
        return lesson.marginal_utility(self.mean_outcome), lesson.wordings[-1].stamp_ns

    def _is_bad(self, lesson: Lesson) -> bool:
        tried = lesson.given.trials >= self._limits.least_trials
        return tried and lesson.marginal_utility(self.mean_outcome) < self._limits.least_utility
