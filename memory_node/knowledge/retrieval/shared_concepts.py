"""Links steps by what few of them mention: "the red toolbox" links who sends one there with what is told of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from memory_node.knowledge.retrieval.statement_rows import StatementRows
from memory_node.knowledge.retrieval.step_scores import Question

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
            speaks_much = self._rows.subject_count(self._rows.subject_of(step)) > self._most
            rare = {} if speaks_much else self._rows.rare_concepts(step, self._most)
            self._of[step] = {one: count for one, count in rare.items() if not self._question.holds(one)}
        return self._of[step]

    def steps_sharing(self, steps: Iterable[int]) -> list[int]:
        """Return the steps that share a concept with one of these, those of the rarest first."""
        counts: dict[str, int] = {}
        for step in steps:
            counts |= self.of(step)
        rarest = sorted(counts, key=lambda one: (counts[one], one))
        return [self._rows.step_of(row) for one in rarest for row in self._rows.all_mentioning(one)]

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
