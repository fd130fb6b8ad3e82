"""Opens a store for reading only, with no byte of it changed and no file left beside it, and tells what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from memory_node.store import schema
from memory_node.store.apply import replay
from memory_node.store.config import StoreConfig
from memory_node.store.copying import count_rows
from memory_node.store.distribute import has_citus
from memory_node.store.engine import (
    DATABASE_ERRORS,
    disposed,
    for_writing,
    log_bytes,
    open_engine,
    open_for_reading,
    page_copy,
    reason_of,
    require_store,
)
from memory_node.store.errors import MissingStoreError, StoreUnavailableError, StoreVersionError
from memory_node.store.journal import waiting_batches
from memory_node.store.location import Folders, locate, noted_exports, parse_url, sqlite_path
from memory_node.store.reader import reading, revision_of
from memory_node.store.schema import SCHEMA_VERSION
from memory_node.store.site_database import identity_of, prepare, schema_version, site_of


@dataclass(frozen=True)
class OpenedStore:
    """A store that is only read.

    engine: of the database, or of a temporary copy of it that was brought up to date. database: its address, to show.
    schema: the version that was found.
    """

    engine: Engine
    site: str
    folders: Folders
    database: str
    path: Path | None
    schema: str


@contextmanager
def open_to_read(
    url: URL, site: str, robot_id: str, config: StoreConfig, complete: bool = False
) -> Iterator[OpenedStore]:
    """Give a store to read. An older one is migrated, and facts that wait in a journal come in, in a temporary copy.

    complete: everything that was acknowledged must be seen, so what waits in the journal too.

    Raises:
        MissingStoreError: there is no such file.
        ForeignFileError: the file is empty, no SQLite database, or another program's.
        StoreVersionError: the store is newer than this program; of a server, also older.
        StoreUnavailableError: it cannot be read, or was written while it was read.
    """
    path = sqlite_path(url)
    if path is None:
        with disposed(open_engine(url, busy_timeout_s=10.0)) as engine:
            name = site_of(engine, site)
            shown = url.render_as_string()
            yield OpenedStore(engine, name, locate(url, name, robot_id, config), shown, None, SCHEMA_VERSION)
        return
    if not path.is_file():
        raise MissingStoreError(path)
    require_store(path)
    folders = locate(url, site, robot_id, config)
    before = _state_of(path)
    with _at_this_schema(path, site, robot_id, folders if complete and folders.journal_waits else None) as found:
        engine, version = found
        yield OpenedStore(engine, site_of(engine, site), folders, str(path), path, version)
    if _state_of(path) != before and not before[2]:
        raise StoreUnavailableError(f"{path} was written while it was read; do it again")


def _state_of(path: Path) -> tuple[int, int, bool]:
    """Return what changes when a file without a write-ahead log is written."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns, log_bytes(path) > 0


@contextmanager
def _at_this_schema(path: Path, site: str, robot_id: str, waiting: Folders | None) -> Iterator[tuple[Engine, str]]:
    """Give an engine of the file, or of a copy with this program's schema and what waits; and the file's own schema."""
    with disposed(open_for_reading(path)) as engine:
        try:
            with engine.connect() as connection, connection.begin():
                version = schema_version(connection)
        except DATABASE_ERRORS as error:
            raise StoreUnavailableError(f"{path} cannot be read: {reason_of(error)}") from error
        if version is None:
            raise StoreVersionError(f"{path} holds no tables yet: no memory was ever written to it")
        if version == SCHEMA_VERSION and waiting is None:
            yield engine, version
            return
    with page_copy(path) as copied, disposed(open_engine(parse_url(copied))) as copy:
        name = prepare(copy, site)
        if waiting is not None:
            with for_writing(copy.connect()) as connection:
                own = ("", identity_of(connection, name))
                connection.commit()
                found = waiting_batches(waiting.journal)
                replay(connection, name, robot_id, (batch for identity, batch in found if identity in own))
        yield copy, version


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
