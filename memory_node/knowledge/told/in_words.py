"""What became of what somebody told, for the one who told it."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.knowledge.facts import Proposition


def in_words(told: Sequence[Proposition]) -> str:
    """Return whether statements were understood, what was kept, and what they took the place of."""
    if not told:
        return "Nobody told me that."
    kept, gone = [one for one in told if one.active], [one.text for one in told if not one.active]
    text = " ".join(one.text for one in kept)
    if gone and (not kept or told[0].text == gone[0]):
        restored = f" Again: {text}" if text else ""
        return f"I take it back: {' '.join(gone)}{restored}"
    instead = f" Instead of: {' '.join(gone)}" if gone else ""
    if any(one.structure for one in kept):
        return f"I shall remember: {text}{instead}"
    return f"I keep the words, but no rule of mine reads them: {text}{instead}"
