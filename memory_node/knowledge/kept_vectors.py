"""The file of the vectors of statements, by digests of their texts, so that no start embeds them again."""

from __future__ import annotations

import hashlib
import logging
import os
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.resources import create_private
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.search.vector_rows import Vectors

_log = logging.getLogger(__name__)
# The file is written anew when more than this share of the vectors is not in it; the next start computes fewer.
_NEW_SHARE = 0.01
# Embedded to tell one embedder from another.
_PROBE = "The blue mug stands on the table in the kitchen."
_LEAST_LIKENESS = 0.999
_DIGEST_BYTES = 16
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


class KeptVectors:
    """Of a file that is damaged or of another embedder nothing is used. It goes as soon as anything is forgotten."""

    def __init__(self, path: Path, embedder: TextEmbedder) -> None:
        self._path = path
        self._embedder = embedder

    def load(self, knowledge: KnowledgeGraph) -> None:
        """Give the statements that wait for a vector those that the file has."""
        if not self._path.is_file():
            return
        try:
            with np.load(self._path) as file:
                probe, digests, vectors = file["probe"], file["digests"], file["vectors"]
            if probe.shape != (self._embedder.dimension,) or probe @ self._probe() < _LEAST_LIKENESS:
                raise ValueError("it is of another embedder")
        except _UNREADABLE as error:
            _log.warning("what is known is embedded anew: %s: %s", self._path, error)
            return
        rows = {digest.tobytes(): row for row, digest in enumerate(digests)}

        def known(texts: Sequence[str]) -> tuple[list[str], Vectors]:
            found = {text: row for text in texts if (row := rows.get(_digest(text))) is not None}
            return list(found), vectors[list(found.values())].astype(np.float32)

        knowledge.take_vectors(known)

    def save(self, knowledge: KnowledgeGraph) -> None:
        """Write the file if enough of it is new."""
        if self._path.is_file() and knowledge.new_vectors <= _NEW_SHARE * len(knowledge):
            return
        texts, vectors = knowledge.vectors()
        if not texts:
            return
        digests = np.frombuffer(b"".join(map(_digest, texts)), np.uint8).reshape(len(texts), _DIGEST_BYTES)
        partial = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
        try:
            create_private(partial)
            with open(partial, "wb") as file:
                np.savez(file, probe=self._probe(), digests=digests, vectors=vectors.astype(np.float16))
            os.replace(partial, self._path)
        except OSError as error:
            _log.warning("the next start embeds statements anew, as %s cannot be written: %s", self._path, error)

    def drop(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def _probe(self) -> NDArray[np.float32]:
        return np.asarray(self._embedder.embed([_PROBE])[0], dtype=np.float32)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_BYTES).digest()
