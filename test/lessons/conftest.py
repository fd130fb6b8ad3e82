"""Builders of attempts, and an embedder that counts words."""

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.lessons.optimizer.attempt import Attempt, Deed, DeedKind


class WordEmbedder:
    """A text as the words that it has: texts that share most words are nearest."""

    dimension = 128

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts):
            for word in text.lower().split():
                row[zlib.crc32(word.strip(".,").encode()) % self.dimension] += 1.0
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return rows


@pytest.fixture
def word_embedder() -> WordEmbedder:
    return WordEmbedder()


def said_in_game(*commands: str) -> Iterator[Deed]:
    """Yield deeds of commands such as "take mug from shelf": kinds alone, all of which worked."""
    for command in commands:
        verb, *rest = command.split()
        kind = {"go": DeedKind.TRAVEL, "open": DeedKind.OPEN, "take": DeedKind.TAKE, "put": DeedKind.PUT}.get(
            verb, DeedKind.CHANGE
        )
        names = [word for word in rest if word not in ("to", "from", "in", "with", "sees")]
        seen = tuple(rest[rest.index("sees") + 1 :]) if "sees" in rest else ()
        at_place = kind in (DeedKind.TRAVEL, DeedKind.OPEN)
        place = names[0] if at_place else (names[1] if len(names) > 1 else "")
        way = command.partition(" sees")[0]
        yield Deed(kind, verb, way, "" if at_place else names[0], place, text=way, seen=seen)


@pytest.fixture
def attempt() -> Callable[..., Attempt]:
    """Return a maker of attempts: attempt("put a mug in cabinet", "take mug from shelf", ..., won=False)."""
    counter = itertools.count()

    def make(query: str, *commands: str, won: bool = True, places: tuple[str, ...] = ()) -> Attempt:
        number = next(counter)
        return Attempt(f"e{number}", query, tuple(said_in_game(*commands)), won, number, places)

    return make
