"""A sentence embedder of words alone, for tests that need no model."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray


class WordEmbedder:
    """Texts that share words are alike; deterministic, dimension 256."""

    dimension = 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), 1e-6, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"[a-z]+", text.lower()):
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
                vectors[row] += np.random.default_rng(seed).normal(size=self.dimension)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def word_embedder() -> WordEmbedder:
    return WordEmbedder()
