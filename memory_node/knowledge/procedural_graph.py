"""The procedural graph: prescriptions, found by the intents that they solve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.facts import Prescription

Vectors = NDArray[np.float32]
# Least cosine of an intent that is about the same as the instruction.
_SAME_INTENT = 0.5
# All of them are compared with each question.
_MOST_WAYS = 1000
# Least return of a recommended prescription: complete, or with minor gaps.
WORTH_GOING = 8.0


class ProceduralGraph:
    """Not thread-safe; its owner locks."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder = embedder
        self._ways: dict[str, Prescription] = {}
        self._vectors: dict[str, Vectors] = {}

    def __len__(self) -> int:
        return len(self._ways)

    def get(self, key: str) -> Prescription | None:
        """Return the way of this key, None when there is none."""
        return self._ways.get(key)

    def all(self) -> list[Prescription]:
        """Return every way, given-up ones too."""
        return list(self._ways.values())

    def put(self, way: Prescription) -> None:
        """Take over a way as it is, in the place of the one of its key."""
        self._ways[way.key] = way

    def merge(self, way: Prescription) -> Prescription:
        """Take over a way, or its sources where it is known; return what is held now."""
        known = self._ways.pop(way.key, None)
        kept = self._ways[way.key] = known.merged(way) if known else way
        self.keep_newest()
        return kept

    def remove(self, key: str) -> None:
        """Drop a way; nothing where there is none."""
        self._ways.pop(key, None)

    def unknown_intents(self) -> list[str]:
        """Return the intents that have no vector yet."""
        named = (name for way in self._ways.values() for name in (way.intent, way.solves))
        return list(dict.fromkeys(name for name in named if name not in self._vectors))

    def put_vector(self, intent: str, vector: Vectors) -> None:
        """Make an intent findable."""
        self._vectors[intent] = vector

    def candidates(self, least_return: float) -> tuple[list[Prescription], list[Vectors]]:
        """Return the active ways of at least a return whose intents can be found.

        Beside each the vectors (2, dimension) of its intent and of the name that it shares.
        """
        active = (way for way in self._ways.values() if way.active and way.returned >= least_return)
        known = [way for way in active if way.intent in self._vectors]
        return known, [self._both(way) for way in known]

    def nearly_same(self, way: Prescription, least: float) -> list[Prescription]:
        """Return the ways for the intent that is most like a way's and another one; none below a cosine of `least`."""
        own = self._vectors.get(way.intent)
        others = [one for one in self._ways.values() if one.intent != way.intent and one.intent in self._vectors]
        if own is None or not others:
            return []
        cosines = np.stack([self._both(one) for one in others]) @ own
        best = int(np.argmax(cosines.max(axis=1)))
        if cosines[best].max() < least:
            return []
        return [one for one in others if one.solves == others[best].solves]

    def _both(self, way: Prescription) -> Vectors:
        own = self._vectors[way.intent]
        return np.stack([own, self._vectors.get(way.solves, own)])

    def keep_newest(self) -> None:
        """Let the oldest ways go; the log keeps them."""
        if len(self._ways) <= _MOST_WAYS:
            return
        by_age = sorted(self._ways.values(), key=lambda way: (way.stamp_ns, way.key))
        for way in by_age[: len(by_age) - _MOST_WAYS]:
            del self._ways[way.key]
        used = {name for way in self._ways.values() for name in (way.intent, way.solves)}
        self._vectors = {intent: vector for intent, vector in self._vectors.items() if intent in used}


def best_ways(known: Sequence[Prescription], vectors: Sequence[Vectors], wanted: Vectors, k: int) -> list[Prescription]:
    """Return the k ways whose intents are most like the wanted one, none that is about something else.

    vectors: as of candidates(). Of ways that share a name, those come first whose own intent is more like it.
    """
    if not known:
        return []
    cosines = np.stack(vectors) @ wanted
    best = cosines.max(axis=1)
    order = np.lexsort((-cosines[:, 0], -best))[:k]
    return [known[index] for index in order if best[index] >= _SAME_INTENT]
