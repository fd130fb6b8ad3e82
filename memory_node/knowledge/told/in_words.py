"""What became of what somebody told, for the one who told it."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.knowledge.facts import Proposition


def in_words(told: Sequence[Proposition]) -> str:
    """Return whether statements were understood, and what was kept."""
    text = " ".join(one.text for one in told)
    if any(one.structure for one in told):
        return f"I shall remember: {text}"
    return f"I keep the words, but no rule of mine reads them: {text}"
