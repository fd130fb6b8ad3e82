"""Frees space: removes what no record needs any more, and rewrites the file."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from memory_node.store import schema
from memory_node.store.address import sqlite_path
from memory_node.store.engine import for_writing
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.inventory import database_bytes
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
        for table, orphaned in _orphans(site):
            removed += connection.execute(table.delete().where(table.c.site == site, orphaned)).rowcount
        if sqlite_path(engine.url) is not None:
            for table in (schema.floors, schema.rooms, schema.areas, schema.relations, schema.documents):
                removed += connection.execute(table.delete().where(table.c.site == site, table.c.removed)).rowcount
    undone = vacuum(engine)
    if undone:
        raise StoreUnavailableError(f"not all could be rewritten: {'; '.join(undone)}")
    with reading(engine) as connection:
        return {"rows_removed": removed, "bytes_before": before, "bytes_after": database_bytes(connection)}


def _orphans(site: str) -> list[tuple[sa.Table, Any]]:
    objects, documents, supports = schema.objects, schema.documents, schema.supports
    present = sa.select(objects.c.id).where(objects.c.site == site)
    described = sa.exists().where(
        documents.c.site == supports.c.site,
        documents.c.kind == supports.c.record_kind,
        documents.c.id == supports.c.record_id,
    )
    looks = [(table, table.c.object_id.not_in(present)) for table in (schema.appearances, schema.places)]
    return [*looks, (supports, sa.not_(described))]
