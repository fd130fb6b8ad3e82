"""Keeps the embeddings of the shipped glosses on disk: computing them takes a second, reading them a millisecond."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.ports import TextEmbedder
from memory_node.search.model_files import models_folder, write_whole

_LOG = logging.getLogger(__name__)
_DIGEST_BYTES = hashlib.sha256().digest_size


def gloss_vectors(texts: Sequence[str], embedder: TextEmbedder, folder: Path | None = None) -> NDArray[np.float32]:
    """Return the unit vectors (n, d) of the texts, from the file of this embedder in `folder` if it holds just them.

    A file of other texts or another model is replaced, and so is a damaged one. An embedder without a `fingerprint`
    (what tells its model from every other) is asked each time. folder: default `glosses` beside the models.
    """
    fingerprint = getattr(embedder, "fingerprint", "")
    if not fingerprint or not texts:
        return embedder.embed(texts)
    name = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
    path = (folder or models_folder() / "glosses") / f"{name}.vectors"
    key = hashlib.sha256("\0".join([fingerprint, *texts]).encode()).digest()
    known = _read(path, key, len(texts))
    if known is not None:
        return known
    vectors = np.ascontiguousarray(embedder.embed(texts), dtype="<f4")
    body = key + vectors.tobytes()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda scratch: scratch.write_bytes(hashlib.sha256(body).digest() + body))
    except OSError as error:
        _LOG.warning("the glosses' vectors cannot be kept in %s and will be made again: %s", path, error)
    return vectors


def _read(path: Path, key: bytes, count: int) -> NDArray[np.float32] | None:
    try:
        document = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _LOG.warning("the glosses' vectors in %s cannot be read and are made again: %s", path, error)
        return None
    digest, body = document[:_DIGEST_BYTES], document[_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        _LOG.warning("the glosses' vectors in %s are damaged and are made again", path)
        return None
    if body[:_DIGEST_BYTES] != key:
        return None
    return np.frombuffer(body[_DIGEST_BYTES:], dtype="<f4").reshape(count, -1)
