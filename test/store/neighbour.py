"""A second site in the databases of the tests, with the same ids as the first: nothing done to that may change it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa
from looked_into import connected

from memory_node.store import schema
from memory_node.store.config import StoreConfig
from memory_node.store.store import Store, open_store

SITE = "neighbour"
# What migrations added, and a test that goes back to the first release takes away.
LATER = frozenset({"checksum", "crop_checksum", "revision_check", "identity", "installation", "host"})
Facts = dict[str, list[str]]


def move_in(url: str, remember: Callable[[Store], None], folder: Path) -> Facts:
    """Fill the site and return what it holds."""
    config = StoreConfig(journal_path=str(folder / "n.pending"), data_dir=str(folder / "n.data"), journal_mib=1.0)
    with open_store(url, "r1", SITE, config) as store:
        remember(store)
    return facts_of(url)


def facts_of(url: str, site: str = SITE) -> Facts:
    """Return by table all rows of a site, without columns that migrations add."""
    found: Facts = {}
    with connected(url) as connection:
        looks = sa.inspect(connection)
        for table in schema.SEALED:
            present = {one["name"] for one in looks.get_columns(table.name)} if looks.has_table(table.name) else set()
            columns = [column for column in table.c if column.name in present - LATER]
            if columns:
                rows = connection.execute(sa.select(*columns).where(schema.site_column(table) == site))
                found[table.name] = sorted(str(tuple(row)) for row in rows)
    return {table: rows for table, rows in found.items() if rows}
