"""From words to classes of things: by name, by group, or by the similarity of their meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import yaml
from numpy.typing import NDArray

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.resources import resource_path
from memory_node.planner.language.noun_phrase import singular
from memory_node.planner.object_kinds import ObjectKinds

_DESCRIBED_FLOOR = 0.25
_MANY = 4
_RARE = 100  # rank of names of classes that people seldom mean


@lru_cache(maxsize=1)
def load_categories() -> Mapping[str, tuple[str, ...]]:
    """Return config/categories.yaml: group word -> classes."""
    loaded = yaml.safe_load(resource_path("config/categories.yaml").read_text(encoding="utf-8"))
    return {word: tuple(names) for word, names in loaded.items()}


class Grounding:
    """Finds the classes that a noun phrase may mean. embedder: None leaves descriptions ungrounded."""

    def __init__(self, kinds: ObjectKinds, embedder: TextEmbedder | None) -> None:
        self._kinds = kinds
        self._embedder = embedder
        self._categories = load_categories()
        self._names = _name_index(kinds)
        self._longest = max(len(name.split()) for name in self._names)
        self._described: dict[str, NDArray[np.float32]] = {}

    def by_name(self, head: str) -> tuple[str, ...]:
        """Return the classes that are called so, best first; the longest and last name in the phrase decides."""
        words = head.split()
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length, -1, -1):
                found = self._names.get(" ".join(words[start : start + length]))
                if found:
                    return found
        return ()

    def group(self, head: str) -> tuple[str, ...] | None:
        """Return the classes of a group word such as "fruit"; None when the phrase has none, () for "thing"."""
        for word in reversed(head.split()):
            if word in self._categories:
                return self._categories[word]
        return None

    def by_meaning(self, text: str, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the classes whose description is most like the text, best first; () without an embedder."""
        names = list(dict.fromkeys(classes))
        if self._embedder is None or not names:
            return ()
        query = self._embedder.embed([text])[0]
        scores = self._descriptions(names) @ query
        order = np.argsort(-scores)[:_MANY]
        return tuple(names[index] for index in order if scores[index] >= _DESCRIBED_FLOOR)

    def _descriptions(self, names: Sequence[str]) -> NDArray[np.float32]:
        missing = [name for name in names if name not in self._described]
        if missing:
            assert self._embedder is not None
            texts = [f"{self._kinds[name].names[0]}: {self._kinds[name].gloss}" for name in missing]
            self._described.update(zip(missing, self._embedder.embed(texts)))
        return np.stack([self._described[name] for name in names])


def _name_index(kinds: ObjectKinds) -> dict[str, tuple[str, ...]]:
    """Return name -> classes; a class for which the name is its first comes before one that also answers to it."""
    ranked: dict[str, list[tuple[int, str]]] = {}
    for kind_name in kinds.names:
        kind = kinds[kind_name]
        for rank, name in enumerate((*kind.names, kind_name.lower())):
            words = " ".join(singular(word) for word in name.replace("'s", "").split())
            ranked.setdefault(words, []).append((rank if kind.everyday else _RARE, kind_name))
    return {name: tuple(dict.fromkeys(kind for _, kind in sorted(entries))) for name, entries in ranked.items()}
