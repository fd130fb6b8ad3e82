"""What a training needs of a language model, text or image-text, whatever adapters it has."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def inner(model: Any) -> Any:
    """Return the model under its adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def decoder(model: Any) -> Any:
    """Return the part that reads tokens, or their embeddings, and gives the last layer's states."""
    return inner(model).get_decoder()


def scores(model: Any, states: Tensor) -> Tensor:
    """Return what a model makes of last-layer states (n, width): a number for each token of its vocabulary."""
    found: Tensor = inner(model).get_output_embeddings()(states)
    return found


def width(model: Any) -> int:
    """Return the size of a last-layer state, which is that of an embedding."""
    return int(inner(model).config.get_text_config().hidden_size)
