"""Builds the embedders that a config names, and remembers the embeddings of recent texts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.search.clip_embedder import ClipEmbedder
from memory_node.search.config import RetrievalConfig
from memory_node.search.minilm import MiniLmEmbedder


class CachingEmbedder:
    """A TextEmbedder around another one with an LRU of `capacity` texts; safe to share between threads."""

    def __init__(self, embedder: TextEmbedder, capacity: int = 4096) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """The wrapped embedder's, "" when it has none."""
        return str(getattr(self._embedder, "fingerprint", ""))

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension) unit vectors; texts asked for before cost nothing."""
        found: dict[str, NDArray[np.float32]] = {}
        with self._lock:
            for text in texts:
                if text in self._known:
                    self._known.move_to_end(text)
                    found[text] = self._known[text]
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            # Outside the lock: a slow model must not hold up readers of what is known.
            fresh = dict(zip(missing, self._embedder.embed(missing)))
            found.update(fresh)
            with self._lock:
                self._known.update(fresh)
                while len(self._known) > self._capacity:
                    self._known.popitem(last=False)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([found[text] for text in texts])


def build_embedder(config: RetrievalConfig) -> TextEmbedder:
    """Return the embedder; recall caches what it embeds.

    Raises:
        InvalidValueError: an endpoint is asked for without its address or model.
        ResourceMissingError: MiniLM's graph is missing and cannot be made here.
    """
    if config.embedder == "minilm":
        return MiniLmEmbedder(config.precision)
    if not (config.openai_base_url and config.openai_model):
        raise InvalidValueError("embedder openai: expected openai_base_url and openai_model, one of them is empty")
    # Its client library takes as long to import as a fifth of a node's start, and few nodes embed over HTTP.
    from memory_node.search.openai_embedder import OpenAiEmbedder

    return OpenAiEmbedder(config.openai_base_url, config.openai_model)


def build_picture_embedder(config: RetrievalConfig) -> ClipEmbedder | None:
    """Return the embedder of image crops, or None when the config names no folder of one.

    Raises:
        ResourceMissingError: the folder lacks a file.
    """
    return ClipEmbedder(Path(config.clip_path)) if config.clip_path else None
