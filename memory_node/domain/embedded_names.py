"""Limits the names that one call embeds, so that a caller with a thousand names still gets an answer in time."""

from __future__ import annotations

from collections.abc import Iterable

# Names have a few words; a longer text is not embedded and is found by its words (characters).
LONGEST_NAME = 80
# Characters that one call embeds: one or two seconds for the shipped embedder; a thousand ordinary names have fewer.
CHARACTERS_A_CALL = 12_000


def is_embedded(name: str) -> bool:
    """Return whether a name is short enough to be embedded at all."""
    return len(name) <= LONGEST_NAME


def embedded_now(names: Iterable[str]) -> list[str]:
    """Return the names that one call embeds: the first ones of at most 80 characters, up to 12,000 characters."""
    chosen: list[str] = []
    left = CHARACTERS_A_CALL
    for name in filter(is_embedded, names):
        left -= len(name)
        if left < 0:
            break
        chosen.append(name)
    return chosen
