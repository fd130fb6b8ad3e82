"""Frees space: removes what no record needs any more, and rewrites the file."""

from __future__ import annotations

from sqlalchemy.engine import Engine

from memory_node.store import schema
from memory_node.store.address import sqlite_path
from memory_node.store.engine import for_writing
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.inventory import database_bytes
from memory_node.store.links import orphans
from memory_node.store.reader import reading
from memory_node.store.scrub import vacuum


def compact(engine: Engine, site: str) -> dict[str, int]:
    """Remove orphans, and on SQLite marks of removal that no other robot waits for; return what it gained.

    Raises:
        StoreUnavailableError: others kept the file busy.
    """
    removed = 0
    with for_writing(engine.connect()) as connection, connection.begin():
        before = database_bytes(connection)
        for _, table, orphaned in orphans(site):
            removed += connection.execute(table.delete().where(table.c.site == site, orphaned)).rowcount
        if sqlite_path(engine.url) is not None:
            for table in (schema.floors, schema.rooms, schema.areas, schema.relations, schema.documents):
                removed += connection.execute(table.delete().where(table.c.site == site, table.c.removed)).rowcount
    undone = vacuum(engine)
    if undone:
        raise StoreUnavailableError(f"not all could be rewritten: {'; '.join(undone)}")
    with reading(engine) as connection:
        return {"rows_removed": removed, "bytes_before": before, "bytes_after": database_bytes(connection)}
