"""Vectors in a prompt: each stands where a token could stand, under a number below 0 that no token has."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def vector_tokens(vectors: Vectors) -> list[int]:
    """Return a number below 0 for each of the vectors (n, width): the same for the same vector, and for no other."""
    digests = (hashlib.blake2b(np.ascontiguousarray(row, np.float32).tobytes(), digest_size=7) for row in vectors)
    return [-1 - int.from_bytes(digest.digest(), "big") for digest in digests]


def passes(tokens: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Yield portions of at most `most`, each of tokens alone or of vectors alone, in their order."""
    start = 0
    while start < len(tokens):
        end, is_vector = start + 1, tokens[start] < 0
        while end < len(tokens) and end - start < most and (tokens[end] < 0) is is_vector:
            end += 1
        yield tokens[start:end]
        start = end
