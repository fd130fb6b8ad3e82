"""Gives space back: what no record needs any more goes, and the file is rewritten."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from memory_node.store import schema
from memory_node.store.engine import for_writing, sqlite_path
from memory_node.store.scrub import vacuum


def compact(engine: Engine, site: str) -> dict[str, int]:
    """Remove orphans, and on SQLite marks of removal that no other robot waits for; return what it gained.

    Raises:
        StoreUnavailableError: others kept the file busy.
    """
    path = sqlite_path(engine.url)
    before = path.stat().st_size if path else 0
    removed = 0
    with for_writing(engine.connect()) as connection, connection.begin():
        for table, orphaned in _orphans(site):
            removed += connection.execute(table.delete().where(table.c.site == site, orphaned)).rowcount
        if path is not None:
            for table in (schema.floors, schema.rooms, schema.areas, schema.relations, schema.documents):
                removed += connection.execute(table.delete().where(table.c.site == site, table.c.removed)).rowcount
    vacuum(engine)
    return {"rows_removed": removed, "bytes_before": before, "bytes_after": path.stat().st_size if path else 0}


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
