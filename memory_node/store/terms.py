"""Words and ids that may not be found afterwards, and how texts are searched for them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

BLACKENED = "[forgotten]"

_TOKEN = re.compile(r"[\w-]+")
_UUID_SHAPE = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID = re.compile(_UUID_SHAPE)
# Found also where hexadecimal digits stand right before it.
_UUIDS = re.compile(f"(?=({_UUID_SHAPE}))")


def texts_of(value: Any) -> str:
    """Return all texts of a JSON value, names included, apart from each other."""
    if isinstance(value, dict):
        return "\n".join(f"{name}\n{texts_of(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "\n".join(texts_of(part) for part in value)
    return value if isinstance(value, str) else ""


class Terms:
    """Whole words, upper and lower case alike; ids may be many thousands."""

    def __init__(self, words: Collection[str] = (), ids: Collection[str] = ()) -> None:
        self._ids = frozenset(name.lower() for name in ids if _TOKEN.fullmatch(name))
        self._odd_ids = [name for name in self._ids if not _UUID.fullmatch(name)]
        self._words = sorted({*words, *(name for name in ids if not _TOKEN.fullmatch(name))}, key=len, reverse=True)
        parts = "|".join(re.escape(word) for word in self._words)
        self._pattern = re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE) if parts else None

    def __bool__(self) -> bool:
        return bool(self._ids or self._words)

    def found_in(self, text: str) -> bool:
        """Return whether a text holds any of them."""
        if self._pattern is not None and self._pattern.search(text):
            return True
        return bool(self._ids) and any(token.lower() in self._ids for token in _TOKEN.findall(text))

    def blacken(self, text: str) -> str:
        """Return the text without them."""
        if self._pattern is not None:
            text = self._pattern.sub(BLACKENED, text)
        if not self._ids:
            return text
        return _TOKEN.sub(lambda match: BLACKENED if match[0].lower() in self._ids else match[0], text)

    def blacken_value(self, value: Any) -> Any:
        """Return a JSON value with all its texts blackened."""
        if isinstance(value, dict):
            return {name: self.blacken_value(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.blacken_value(part) for part in value]
        return self.blacken(value) if isinstance(value, str) else value

    def found_in_bytes(self, data: bytes) -> bool:
        """Return whether raw bytes, such as a database's pages, hold any of them, be it within other text."""
        text = data.decode("utf-8", errors="ignore").lower()
        if any(word.lower() in text for word in self._words):
            return True
        # Pages put texts side by side without a mark between them, so ids are sought by their shape.
        if any(match[1] in self._ids for match in _UUIDS.finditer(text)):
            return True
        return any(name in text for name in self._odd_ids)
