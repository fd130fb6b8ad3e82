"""The base of enumerations whose members are words."""

from __future__ import annotations

import enum


class TextEnum(str, enum.Enum):
    """An enumeration of words: a member is its word, in comparisons, in files and in texts."""

    def __str__(self) -> str:
        return str(self.value)
