"""Finds the rows whose texts hold a term; the database looks first where it can, which is ten times faster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store.copying import CHUNK
from memory_node.store.terms import Terms, texts_within

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
    """Return a condition that every row fulfils whose columns hold a term, and some others do; None: look yourself."""
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
