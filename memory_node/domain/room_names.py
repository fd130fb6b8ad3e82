"""Names that rooms get by themselves: the kind with a number, "bedroom 2"; a room of unknown kind is "room 2"."""

from __future__ import annotations

from collections.abc import Sequence

# Stands for the kind of a room while that is unknown.
NO_KIND = "room"


def kind_words(name: Sequence[str]) -> list[str]:
    """Return the words of a room's name, lower case, without its number."""
    return [word for word in name if not word.isdigit()]


def lacks_kind(name: Sequence[str]) -> bool:
    """Return whether a room's name, in words, lower case, is a number alone: "room 2"."""
    return kind_words(name) == [NO_KIND]
