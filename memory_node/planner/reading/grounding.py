"""From words that name no class to classes of a similar meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder

_FLOOR = 0.25
_MANY = 4


class Grounding:
    """Finds the classes that an unknown noun may mean. embedder: None finds none."""

    def __init__(self, kinds: ObjectCatalogue, embedder: TextEmbedder | None) -> None:
        self._kinds = kinds
        self._embedder = embedder
        self._described: dict[str, NDArray[np.float32]] = {}

    def by_meaning(self, text: str, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the classes whose description is most like the text, best first; () without an embedder."""
        names = list(dict.fromkeys(classes))
        if self._embedder is None or not names:
            return ()
        query = self._embedder.embed([text])[0]
        scores = self._descriptions(names) @ query
        order = np.argsort(-scores)[:_MANY]
        return tuple(names[index] for index in order if scores[index] >= _FLOOR)

    def _descriptions(self, names: Sequence[str]) -> NDArray[np.float32]:
        missing = [name for name in names if name not in self._described]
        if missing:
            assert self._embedder is not None
            texts = [f"{self._kinds[name].best_name}: {self._kinds[name].gloss}" for name in missing]
            self._described.update(zip(missing, self._embedder.embed(texts)))
        return np.stack([self._described[name] for name in names])
