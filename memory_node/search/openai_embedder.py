"""Embeddings from any endpoint that speaks the OpenAI protocol (`POST /v1/embeddings`)."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import openai
from numpy.typing import NDArray

from memory_node.domain.errors import RobotMemoryError


class EmbeddingError(RobotMemoryError):
    """An embeddings endpoint could not be reached, refused, or answered something that is no embedding."""


class OpenAiEmbedder:
    """A TextEmbedder over HTTP; every reply is checked before it is believed.

    api_key: default the environment's OPENAI_API_KEY; endpoints on one's own machine mostly take any. timeout_s bounds
    each request; one failed request is tried once more. dimension 0 asks the endpoint with a first text.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str = "",
        timeout_s: float = 10.0,
        batch_size: int = 64,
        dimension: int = 0,
    ) -> None:
        key = api_key or os.environ.get("OPENAI_API_KEY", "") or "none"
        self._client = openai.OpenAI(base_url=base_url, api_key=key, timeout=timeout_s, max_retries=1)
        self._model = model
        self._batch_size = batch_size
        self._dimension = dimension

    @property
    def fingerprint(self) -> str:
        """What tells this model from every other, for vectors that are kept."""
        return f"{self._client.base_url}{self._model}"

    @property
    def dimension(self) -> int:
        """Length of the vectors; asks the endpoint when it is not known yet."""
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension) unit vectors.

        Raises:
            EmbeddingError: the endpoint failed, or its reply does not hold one finite vector for each text.
        """
        batches = [
            self._embed_batch(list(texts[start : start + self._batch_size]))
            for start in range(0, len(texts), self._batch_size)
        ]
        if not batches:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate(batches)

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        # Servers tend to refuse empty texts.
        asked = [text or " " for text in texts]
        try:
            # Not every server knows base64, which the client would ask for.
            reply = self._client.embeddings.create(model=self._model, input=asked, encoding_format="float")
            rows = {item.index: item.embedding for item in reply.data}
            vectors = np.array([rows[index] for index in range(len(texts))], dtype=np.float32)
        except openai.OpenAIError as error:
            raise EmbeddingError(f"embeddings of {self._model!r} at {self._client.base_url}: {error}") from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise EmbeddingError(f"{self._client.base_url}: expected {len(texts)} vectors of one length") from error
        return self._checked(vectors)

    def _checked(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        if vectors.ndim != 2 or vectors.shape[1] == 0 or not np.isfinite(vectors).all():
            raise EmbeddingError(f"{self._client.base_url}: expected finite vectors, got shape {vectors.shape}")
        if self._dimension and vectors.shape[1] != self._dimension:
            raise EmbeddingError(
                f"{self._client.base_url}: expected vectors of {self._dimension} numbers, got {vectors.shape[1]}"
            )
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if (norms == 0.0).any():
            raise EmbeddingError(f"{self._client.base_url}: a vector is zero")
        self._dimension = vectors.shape[1]
        return vectors / norms
