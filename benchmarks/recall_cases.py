"""Things that a robot might remember by the million, and what people ask about them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import FindQuery
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.search.glosses import ClassGlosses

NOW_NS = 10_000 * 1_000_000_000

_LOOKS = (
    "red", "green", "blue", "yellow", "white", "black", "brown", "wooden", "metal", "glass", "plastic", "ceramic",
    "small", "large", "old", "new", "broken", "striped", "round", "square", "heavy", "shiny",
)  # fmt: skip
_PLACES = (
    "on the kitchen counter", "in the fridge", "on the dining table", "in the sink", "on the sofa", "under the bed",
    "on the desk", "in the cabinet", "on the shelf", "in the drawer", "by the window", "on the floor", "in the bath",
    "next to the television", "on the bedside table", "in the garbage can", "in the hallway", "on the coffee table",
)  # fmt: skip
_REQUESTS = (
    "bring me the {look} {thing}",
    "put the {thing} {place} away",
    "where is the {look} {thing} {place}?",
    "the clean {thing}",
    "the {thing} that is cold",
    "I need the {thing}",
    "{described}",
    "bring me {described}",
)
_STATES = (ObjectState.CLEANED, ObjectState.DIRTY, ObjectState.COLD, ObjectState.HEATED, ObjectState.OPENED)
# How much of a unit's vector is its own: crops and phrasings differ between two things of one kind.
_OWN_SHARE = 0.35
_SITE_M = 40.0
_OLDEST_S = 3600.0


class RememberedThings:
    """Draws units: a class, a look and a place, as the embedder sees them, and some of their own.

    Sentences by the million would take hours to embed; sums of real embeddings keep their clusters and their spread.
    """

    def __init__(self, embedder: TextEmbedder, rng: np.random.Generator) -> None:
        self._glosses = ClassGlosses.of(load_catalogue())
        self._classes = list(self._glosses.names)
        self._things = embedder.embed([self._glosses.names[name][0] for name in self._classes])
        self._looks = embedder.embed(_LOOKS)
        self._places = embedder.embed(_PLACES)
        self._rng = rng

    def draw(self, first: int, count: int) -> list[MemoryUnit]:
        """Return units `first`, ... with vectors of unit length."""
        rng = self._rng
        classes = rng.integers(len(self._classes), size=count)
        vectors = self._vectors(classes)
        positions = rng.uniform(0.0, _SITE_M, (count, 3)) * [1.0, 1.0, 0.05]
        stamps = NOW_NS - (rng.uniform(0.0, _OLDEST_S, count) * 1e9).astype(np.int64)
        states = rng.integers(2 * len(_STATES), size=count)
        covariance = np.eye(3) * 0.01
        return [
            MemoryUnit(
                object_id=f"thing{first + index}",
                object_class=self._classes[classes[index]],
                position=positions[index],
                covariance=covariance,
                stamp_ns=int(stamps[index]),
                states=tuple(StateBelief(state, 0.9, int(stamps[index])) for state in _STATES[states[index] :][:1]),
                embedding=vectors[index],
            )
            for index in range(count)
        ]

    def queries(self, count: int, k: int) -> list[FindQuery]:
        """Return requests in words, every third of them from somewhere."""
        rng = self._rng
        texts = [self._glosses.texts[name] for name in self._classes]
        queries = []
        for number in range(count):
            chosen = int(rng.integers(len(self._classes)))
            text = _REQUESTS[number % len(_REQUESTS)].format(
                look=_LOOKS[rng.integers(len(_LOOKS))],
                place=_PLACES[rng.integers(len(_PLACES))],
                thing=self._glosses.names[self._classes[chosen]][0],
                described=texts[chosen][-1],
            )
            x_m, y_m = rng.uniform(0.0, _SITE_M, 2)
            near = (float(x_m), float(y_m), 1.0) if number % 3 == 0 else None
            queries.append(FindQuery(text, near=near, k=k))
        return queries

    def _vectors(self, classes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors of things of these classes."""
        rng, shape = self._rng, (len(classes), self._things.shape[1])
        vectors = rng.standard_normal(shape, dtype=np.float32) * np.float32(_OWN_SHARE / np.sqrt(shape[1]))
        vectors += self._things[classes]
        vectors += 0.5 * self._looks[rng.integers(len(self._looks), size=len(classes))]
        vectors += 0.5 * self._places[rng.integers(len(self._places), size=len(classes))]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
