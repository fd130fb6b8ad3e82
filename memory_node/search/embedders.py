"""Builds the embedders that a config names."""

from __future__ import annotations

from pathlib import Path

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.search.clip_embedder import ClipEmbedder
from memory_node.search.config import RetrievalConfig
from memory_node.search.minilm import MiniLmEmbedder


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
