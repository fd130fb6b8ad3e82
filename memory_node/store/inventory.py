"""What a store holds, in figures."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store import schema
from memory_node.store.address import sqlite_path
from memory_node.store.copying import count_rows
from memory_node.store.distribute import has_citus
from memory_node.store.export_log import noted_exports
from memory_node.store.inspection import OpenedStore
from memory_node.store.reader import reading, revision_of


def inventory(opened: OpenedStore) -> dict[str, Any]:
    """Return schema, site, sizes, counts by table, robots, backups and what was forgotten."""
    site = opened.site
    with reading(opened.engine, lenient=True) as connection:
        facts: dict[str, Any] = {
            "database": opened.database,
            "schema": opened.schema,
            "site": site,
            "revision": revision_of(connection, site),
            "bytes": opened.path.stat().st_size if opened.path else database_bytes(connection),
            "records": {table.name: count_rows(connection, site, table) for table in schema.LOGGED},
            "quarantined": count_rows(connection, site, schema.quarantine),
        }
        facts.update(_origins(connection, site))
    facts["files_written"] += [f"export {path}" for path in noted_exports(opened.folders)]
    facts["journal"] = "holds facts that wait for the database" if opened.folders.journal_waits else "empty"
    facts["data_folder"] = str(opened.folders.data)
    return facts


def database_bytes(connection: Connection) -> int:
    """Return how much a database takes on the disk: all of a server's, on all nodes, other sites included."""
    path = sqlite_path(connection.engine.url)
    if path is not None:
        return path.stat().st_size
    size = "SELECT pg_database_size(current_database())"
    if has_citus(connection):
        size = f"SELECT CAST(sum(CAST(result AS bigint)) AS bigint) FROM run_command_on_all_nodes('{size}')"
    return connection.execute(sa.text(size)).scalar_one()


def _origins(connection: Connection, site: str) -> dict[str, Any]:
    sessions, artifacts, forgettings = schema.sessions, schema.artifacts, schema.forgettings
    count, last = sa.func.count(), sa.func.max(sessions.c.started_ns)
    robots = connection.execute(
        sa.select(sessions.c.robot_id, count, last).where(sessions.c.site == site).group_by(sessions.c.robot_id)
    )
    files = connection.execute(sa.select(artifacts.c.kind, artifacts.c.path).where(artifacts.c.site == site))
    forgotten = connection.execute(
        sa.select(forgettings.c.stamp_ns, forgettings.c.scope, forgettings.c.counts)
        .where(forgettings.c.site == site)
        .order_by(forgettings.c.stamp_ns)
    )
    return {
        "robots": {name: f"{number} sessions, last {_time(last_ns)}" for name, number, last_ns in robots},
        "files_written": [f"{kind} {path}" for kind, path in files],
        "forgotten": [f"{_time(stamp_ns)} by {scope}: {counts}" for stamp_ns, scope, counts in forgotten],
    }


def _time(stamp_ns: int) -> str:
    return datetime.fromtimestamp(stamp_ns * 1e-9, timezone.utc).isoformat(timespec="seconds")
