"""Words and ids that may not be found afterwards, and how texts and rows are searched for them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store.copying import CHUNK

BLACKENED = "[forgotten]"

# Up to this number, ids are searched one by one; for more, a text is split into words.
_FEW = 16
# A fragment of up to so many characters is in nearly every text.
_EVERYWHERE = 2
# Most terms that are left to the database's own search.
_FEW_FRAGMENTS = 4
# What stands the same in every text that holds a term, whatever its case and whether the text is JSON: ASCII, without
# letters that also match others (the Kelvin sign is a k), what JSON escapes, and what LIKE takes for something else.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\U0010ffff\"\\%_iIkKsS]+")
_TOKEN = re.compile(r"[\w-]+")


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

    def fragments(self) -> tuple[str, ...] | None:
        """Return a part of each term that every text with it holds; None when they are many or say too little."""
        names = {*self._ids, *map(str.lower, self._words)}
        parts = [max(_PLAIN.findall(name), key=len, default="") for name in names]
        if len(parts) > _FEW_FRAGMENTS or any(len(part) <= _EVERYWHERE for part in parts):
            return None
        return tuple(sorted(set(parts)))


def _alternatives(names: Collection[str]) -> str:
    """Return a pattern that finds any of the names, the longest where several begin."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_REMEMBERED_TEXTS = 100_000


class TextFinder:
    """Looks for terms in texts of which many come again, as those of steps do: each one is looked through once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._found: dict[str, bool] = {}

    def __call__(self, text: Any) -> bool:
        """Return whether a column's text, which may be JSON, holds a term; False for what is no text."""
        if not isinstance(text, str):
            return False
        found = self._found.get(text)
        if found is None:
            if len(self._found) >= _REMEMBERED_TEXTS:
                self._found.clear()
            found = self._found[text] = self._look_through(text)
        return found

    def _look_through(self, text: str) -> bool:
        # In JSON, escapes may hide a term, and numbers and punctuation may seem to be one.
        if not self._terms.found_in(text) and "\\" not in text:
            return False
        within = texts_within(text)
        return self._terms.found_in(text if within is None else within)


def may_mention(connection: Connection, columns: Sequence[sa.Column], terms: Terms) -> Any:
    """Return a condition that every row fulfils whose columns hold a term, and some others do; None: look yourself.

    The database looks ten times faster.
    """
    fragments = terms.fragments()
    if fragments is None:
        return None
    # SQLite's LIKE does not tell upper from lower case.
    plain = connection.dialect.name == "sqlite"
    looks = (column.like if plain else column.ilike for column in columns)
    return sa.or_(sa.false(), *(look(f"%{fragment}%") for look in looks for fragment in fragments))


def rows_mentioning(
    connection: Connection, site: str, table: sa.Table, names: Sequence[str], terms: Terms
) -> Iterator[dict[str, Any]]:
    """Yield the keys and the named columns of a site's rows in which one of these columns holds a term."""
    columns = [table.c[name] for name in names]
    keys = [column for column in table.primary_key if column.name not in names]
    query = sa.select(*keys, *columns).where(table.c.site == site)
    condition = may_mention(connection, columns, terms)
    if condition is not None:
        query = query.where(condition)
    finder = TextFinder(terms)
    first, fields = len(keys), [column.name for column in (*keys, *columns)]
    for row in connection.execute(query.execution_options(yield_per=CHUNK)):
        if any(map(finder, row[first:])):
            yield dict(zip(fields, row))
