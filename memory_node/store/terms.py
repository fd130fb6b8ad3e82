"""Words and ids that may not be found afterwards, and how texts are searched for them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import cached_property
from typing import Any

from memory_node.store.byte_search import ByteSearch

BLACKENED = "[forgotten]"

# A word shorter than the first number occurs by chance among a picture's bytes; it counts only beside that many
# characters of text. Words up to the second number are on every page and do not count.
_BY_CHANCE = 6
_EVERYWHERE = 2
# Up to this number, ids are searched one by one; for more, a text is split into words.
_FEW = 16
# Most terms that are left to the database's own search.
_FEW_FRAGMENTS = 4
# What stands the same in every text that holds a term, whatever its case and whether the text is JSON: ASCII, without
# letters that also match others (the Kelvin sign is a k), what JSON escapes, and what LIKE takes for something else.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\U0010ffff\"\\%_iIkKsS]+")
_BESIDE = 8
_TOKEN = re.compile(r"[\w-]+")
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def texts_of(value: Any) -> str:
    """Return all texts of a JSON value, names included, apart from each other."""
    if isinstance(value, dict):
        return "\n".join(f"{name}\n{texts_of(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "\n".join(texts_of(part) for part in value)
    return value if isinstance(value, str) else ""


def texts_within(text: str) -> str | None:
    """Return all texts of a JSON object or list, None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return texts_of(json.loads(text))
    except ValueError:
        return None


class Terms:
    """Whole words, upper and lower case alike; ids may be many thousands."""

    def __init__(self, words: Collection[str] = (), ids: Collection[str] = ()) -> None:
        self._ids = frozenset(name.lower() for name in ids if _TOKEN.fullmatch(name))
        self._odd_ids = [name for name in self._ids if not _UUID.fullmatch(name)]
        self._words = {*words, *(name for name in ids if not _TOKEN.fullmatch(name))}
        parts = _alternatives(self._words)
        self._pattern = re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE) if parts else None

    def __bool__(self) -> bool:
        return bool(self._ids or self._words)

    def found_in(self, text: str) -> bool:
        """Return whether a text holds any of them."""
        if self._pattern is not None and self._pattern.search(text):
            return True
        if len(self._ids) <= _FEW:
            lowered = text.lower()
            if not any(name in lowered for name in self._ids):
                return False
        return any(token.lower() in self._ids for token in _TOKEN.findall(text))

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
            # An entry of which nothing is left, such as an id, goes.
            return [part for part in map(self.blacken_value, value) if part != BLACKENED]
        return self.blacken(value) if isinstance(value, str) else value

    def longer_words(self, text: str) -> set[str]:
        """Return the words of a text that hold one of them within, in lower case: "cupboard" for "cup"."""
        names = self._sought()
        if not names:
            return set()
        return set(re.findall(rf"[\w-]*(?:{_alternatives(names)})[\w-]*", text.lower())) - names

    def fragments(self) -> tuple[str, ...] | None:
        """Return a part of each term that every text with it holds; None when they are many or say too little."""
        names = {*self._ids, *map(str.lower, self._words)}
        parts = [max(_PLAIN.findall(name), key=len, default="") for name in names]
        if len(parts) > _FEW_FRAGMENTS or any(len(part) <= _EVERYWHERE for part in parts):
            return None
        return tuple(sorted(set(parts)))

    def found_in_bytes(self, data: bytes, longer: Collection[str] = ()) -> bool:
        """Return whether raw bytes, such as a database's pages, hold any of them, be it within other text.

        longer: words that may hold one of them, in lower case.
        """
        lowered = data.lower()
        # Pages put texts side by side without a mark between them, so ids are sought by their bytes.
        if self._uuid_search.found_in(lowered):
            return True
        if not any(part in lowered for part in self._byte_parts):
            return False
        text = data.decode("utf-8", errors="replace").lower()
        names = self._sought()
        matches = re.finditer(_alternatives({*names, *longer}), text)
        return any(m[0] in names and (len(m[0]) >= _BY_CHANCE or _beside_text(m)) for m in matches)

    @cached_property
    def _uuid_search(self) -> ByteSearch:
        return ByteSearch(name.encode() for name in self._ids if _UUID.fullmatch(name))

    @cached_property
    def _byte_parts(self) -> frozenset[bytes]:
        """What every run of bytes that holds one of the other terms holds too; b"" is in all."""
        return frozenset(max(_PLAIN.findall(name), key=len, default="").encode() for name in self._sought())

    def _sought(self) -> set[str]:
        """Return what is sought among bytes by its letters."""
        names = (*map(str.lower, self._words), *self._odd_ids)
        return {name for name in names if len(name) > _EVERYWHERE}


def _beside_text(match: re.Match[str]) -> bool:
    sides = (
        match.string[max(match.start() - _BESIDE, 0) : match.start()],
        match.string[match.end() : match.end() + _BESIDE],
    )
    return any(len(side) == _BESIDE and side.isprintable() and "\ufffd" not in side for side in sides)


def _alternatives(names: Collection[str]) -> str:
    """Return a pattern that finds any of the names, the longest where several begin."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
