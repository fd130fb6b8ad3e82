"""How long a text is for a language model, without a tokenizer."""

from __future__ import annotations


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: four characters each, as common tokenizers average."""
    return -(-len(text) // 4)
