"""Opens a store for reading only: no byte of its files changes, and no file appears beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, Engine

from memory_node.store.address import parse_url, sqlite_path
from memory_node.store.apply import replay
from memory_node.store.config import StoreConfig
from memory_node.store.engine import (
    DATABASE_ERRORS,
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
from memory_node.store.location import Folders, locate
from memory_node.store.schema import SCHEMA_VERSION
from memory_node.store.versioning import identity_of, prepare, schema_version, site_of


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
        engine = open_engine(url, busy_timeout_s=10.0)
        try:
            name = site_of(engine, site)
            shown = url.render_as_string()
            yield OpenedStore(engine, name, locate(url, name, robot_id, config), shown, None, SCHEMA_VERSION)
        finally:
            engine.dispose()
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
    engine = open_for_reading(path)
    try:
        version = version_of(engine, path)
        if version == SCHEMA_VERSION and waiting is None:
            yield engine, version
            return
    finally:
        engine.dispose()
    with page_copy(path) as copied:
        copy = open_engine(parse_url(copied))
        try:
            name = prepare(copy, site)
            if waiting is not None:
                _replay(copy, name, robot_id, waiting.journal)
            yield copy, version
        finally:
            copy.dispose()


def version_of(engine: Engine, path: Path) -> str:
    """Return the schema of a SQLite store.

    Raises:
        StoreUnavailableError: it cannot be read, or holds nothing.
    """
    try:
        with engine.connect() as connection, connection.begin():
            version = schema_version(connection)
    except DATABASE_ERRORS as error:
        raise StoreUnavailableError(f"{path} cannot be read: {reason_of(error)}") from error
    if version is None:
        raise StoreVersionError(f"{path} holds no tables yet: no memory was ever written to it")
    return version


def _replay(engine: Engine, site: str, robot_id: str, journal: Path) -> None:
    with for_writing(engine.connect()) as connection:
        own = ("", identity_of(connection, site))
        connection.commit()
        replay(connection, site, robot_id, (batch for identity, batch in waiting_batches(journal) if identity in own))
