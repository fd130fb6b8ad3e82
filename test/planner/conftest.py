"""A sentence embedder of words alone, and small homes, for tests that need no model and no simulator."""

import functools
import hashlib
import re
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_home import TinyHome, TinyThing, kitchen_home


class WordEmbedder:
    """Texts that share words are alike; deterministic, dimension 256."""

    dimension = 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), 1e-6, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"[a-z]+", text.lower()):
                vectors[row] += self._vector(word)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    @staticmethod
    @functools.cache
    def _vector(word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(size=WordEmbedder.dimension)


@pytest.fixture(scope="session")
def word_embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def kitchen() -> TinyHome:
    return kitchen_home()


@pytest.fixture
def two_cabinets() -> TinyHome:
    """A home of which memory knows the sink alone; the mug is in the second cabinet."""
    return TinyHome(
        TinyThing("cabinet 1", "Cabinet", seen=False),
        TinyThing("cabinet 2", "Cabinet", seen=False),
        TinyThing("mug", "Mug", "cabinet 2", seen=False, hidden=True),
        TinyThing("sink", "SinkBasin"),
    )
