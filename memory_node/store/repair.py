"""`store check --repair`: puts away what cannot be read, and takes what is missing from the newest backup."""

from __future__ import annotations

import os
import sqlite3
from collections import deque, namedtuple
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import StoreError
from memory_node.domain.resources import create_private
from memory_node.store import schema
from memory_node.store.apply import insert_of, next_revision
from memory_node.store.backup import open_backup, rotated_backups
from memory_node.store.check import REPAIR_ADVICE, Finding, check, scan
from memory_node.store.checksums import SEALS
from memory_node.store.config import StoreConfig
from memory_node.store.copying import CHUNK, COPIED, good_rows, insert_rows
from memory_node.store.engine import DATABASE_ERRORS, for_writing, leave_wal, open_engine, reading_address
from memory_node.store.errors import (
    ForeignFileError,
    InvalidImportError,
    MissingStoreError,
    StoreInUseError,
    StoreUnavailableError,
)
from memory_node.store.inspection import open_to_read
from memory_node.store.journal import Journal
from memory_node.store.location import Folders, locate, parse_url, sqlite_path
from memory_node.store.quarantine import BadRows, put_row_away, quarantined, this_row
from memory_node.store.reader import lenient_text
from memory_node.store.records import Row
from memory_node.store.site_database import create_tables, identity_of, new_site, prepare


@dataclass
class Rescue:
    """What came of it: rows in the new file, the tables that could not be read to their end, and the old file."""

    rows: int = 0
    incomplete: list[str] = field(default_factory=list)
    damaged_file: Path = Path()


def rescue(path: Path, site: str, clock: Clock, backed_up: str) -> Rescue:
    """Replace a damaged file that nobody uses by a new one with all rows that can still be read; it is kept beside.

    site: what to call it where the file does not say. backed_up: the identity of the site that a backup holds, with
    which an empty file helps.

    Raises:
        StoreUnavailableError: no row of ours can be read in it, and there is no backup.
    """
    done = Rescue()
    new = path.with_name(path.name + ".part")
    new.unlink(missing_ok=True)
    create_private(new)
    try:
        _fill(new, path, site, backed_up, done, clock)
        leave_wal(new)
        if not done.rows and not backed_up:
            raise StoreUnavailableError(
                f"no row can be read in {path}, and no backup lies in {path}.data/backups; restore one from elsewhere"
            )
        done.damaged_file = set_aside(path)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    return done


def set_aside(path: Path) -> Path:
    """Give a damaged file a second name and return it.

    It keeps its own name until another file takes it: without one a robot would begin with an empty memory.
    """
    number = 1
    while (damaged := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    os.link(path, damaged)
    for suffix in ("-wal", "-shm"):
        if Path(f"{path}{suffix}").exists():
            os.replace(f"{path}{suffix}", f"{damaged}{suffix}")
    return damaged


def _fill(new: Path, damaged: Path, site: str, identity: str, done: Rescue, clock: Clock) -> None:
    engine = open_engine(parse_url(new))
    try:
        with (
            closing(sqlite3.connect(reading_address(damaged), uri=True)) as source,
            for_writing(engine.connect()) as target,
            target.begin(),
        ):
            source.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
            create_tables(target)
            bad = BadRows()
            for table in schema.SEALED:
                _copy_table(source, target, table, done, bad)
            name = _name_site(target, site, identity, clock)
            for row in bad:
                if row.table is not schema.sites:
                    put_row_away(target, name, row, clock())
    finally:
        engine.dispose()


def _copy_table(source: sqlite3.Connection, target: Connection, table: sa.Table, done: Rescue, bad: BadRows) -> None:
    """Copy the rows from the first on, and where the table breaks off, from the last one back."""
    for order in ("ASC", "DESC"):
        try:
            _insert(target, table, bad.sift(table, _rows(source, table, order)), done)
            break
        except sqlite3.DatabaseError:
            continue
    else:
        done.incomplete.append(table.name)


def _insert(target: Connection, table: sa.Table, rows: Iterator[Any], done: Rescue) -> None:
    """Insert rows, also those that come before one that cannot be read."""
    chunk: list[Row] = []

    def write() -> None:
        if chunk:
            done.rows += max(target.execute(insert_of(table), chunk).rowcount, 0)
        chunk.clear()

    try:
        for row in rows:
            chunk.append(row._asdict())
            if len(chunk) == CHUNK:
                write()
    finally:
        write()


def _rows(source: sqlite3.Connection, table: sa.Table, order: str) -> Iterator[Any]:
    key = ", ".join(f'"{column.name}" {order}' for column in table.primary_key)
    listed = SEALS[table.name].names
    names = ", ".join(f'"{name}"' for name in listed)
    row_type: Any = namedtuple("Row", listed)  # type: ignore[misc]
    return map(row_type._make, source.execute(f'SELECT {names} FROM "{table.name}" ORDER BY {key}'))


def _name_site(target: Connection, site: str, identity: str, clock: Clock) -> str:
    """Return the new file's site: as the old one or its rows say, else as the caller does."""
    named = target.execute(sa.select(schema.sites.c.name)).scalar()
    if named is not None:
        return str(named)
    found = (target.execute(sa.select(table.c.site).limit(1)).scalar() for table in schema.LOGGED)
    name = next(filter(None, found), site or "home")
    target.execute(schema.sites.insert(), new_site(name, clock, identity))
    return name


@dataclass
class Repaired:
    """What was done. put_away: rows moved into quarantine; from_backup: rows that the newest backup still had;
    images_removed: damaged picture files; set_aside: the damaged file, of which a new one kept `rescued` rows.
    """

    put_away: int = 0
    from_backup: int = 0
    discarded: int = 0
    images_removed: int = 0
    rescued: int = 0
    set_aside: str = ""
    backup: str = ""
    incomplete_tables: list[str] = field(default_factory=list)


def repair(
    url: URL, site: str, robot_id: str, config: StoreConfig, discard: bool = False, clock: Clock = system_clock
) -> dict[str, Any]:
    """Mend a store that no robot uses; return what was done. discard: empty the quarantine afterwards.

    Raises:
        StoreInUseError: a robot uses it.
        StoreUnavailableError: nothing of ours can be read in it, and there is no backup.
    """
    done = Repaired()
    path = sqlite_path(url)
    with nobody_else(url, site, robot_id, config):
        folders = locate(url, site, robot_id, config)
        if path is not None and _is_broken(url, site, robot_id, config):
            backed_up, identity = _site_of_backup(folders)
            found = rescue(path, site or backed_up, clock, identity)
            done.rescued, done.incomplete_tables, done.set_aside = found.rows, found.incomplete, str(found.damaged_file)
        engine = open_engine(url, busy_timeout_s=10.0)
        try:
            name = prepare(engine, site)
            with for_writing(engine.connect()) as connection, connection.begin(), lenient_text(connection):
                _put_away(connection, name, done, clock())
                _correct_revision(connection, name)
                _fill_gaps(connection, name, folders, done)
                if discard:
                    away = schema.quarantine
                    done.discarded = connection.execute(away.delete().where(away.c.site == name)).rowcount
        finally:
            engine.dispose()
        for image in (*folders.images.damaged(), *folders.crops.damaged()):
            image.unlink()
            done.images_removed += 1
    return {name: value for name, value in asdict(done).items() if value}


def _is_broken(url: URL, site: str, robot_id: str, config: StoreConfig) -> bool:
    """Return whether more than rows of a SQLite file are damaged."""
    try:
        with open_to_read(url, site, robot_id, config) as opened:
            return any(finding.structure for finding in check(opened))
    except (ForeignFileError, StoreUnavailableError, *DATABASE_ERRORS) as error:
        if isinstance(error, ForeignFileError) and "empty" in str(error):
            raise
        return True


def _site_of_backup(folders: Folders) -> tuple[str, str]:
    """Return the site and its identity of the newest backup that is whole; "" for none."""
    for backup in rotated_backups(folders.backups):
        with suppress(InvalidImportError), open_backup(backup) as found, found.engine.connect() as connection:
            return found.site, identity_of(connection, found.site)
    return "", ""


def _put_away(connection: Connection, site: str, done: Repaired, stamp_ns: int) -> None:
    for table in schema.SEALED:
        bad = BadRows()
        if table is not schema.sites:
            deque(bad.sift(table, scan(connection, table, site)), maxlen=0)
        for row in bad:
            if table is schema.quarantine:
                connection.execute(table.delete().where(*this_row(connection, row)))
            else:
                put_row_away(connection, site, row, stamp_ns)
                done.put_away += 1


def _correct_revision(connection: Connection, site: str) -> None:
    """Make the site's revision one that its guard confirms, and that no row is above: robots have seen all up to it."""
    sites = schema.sites
    row = connection.execute(sa.select(sites).where(sites.c.name == site)).one()
    newest = [
        connection.execute(sa.select(sa.func.max(table.c.revision)).where(table.c.site == site)).scalar_one() or 0
        for table in (*schema.LOGGED, schema.tombstones)
    ]
    guarded = -row.revision_check if row.revision + row.revision_check else 0
    revision = max(row.revision, guarded, *newest)
    changed = sites.update().where(sites.c.name == site).values(revision=revision, revision_check=-revision)
    connection.execute(changed)


def _fill_gaps(connection: Connection, site: str, folders: Folders, done: Repaired) -> None:
    """Take the rows that were put away, and those of tables that break off, from the newest backup that is whole."""
    away = quarantined(connection, site)
    keys = {(waiting.row.table.name, *waiting.row.key.values()) for waiting in away}
    tables = {name for name, *_ in keys} | set(done.incomplete_tables)
    for backup in rotated_backups(folders.backups) if tables else ():
        try:
            with open_backup(backup) as found, found.engine.connect() as copy:
                for table in (table for table in COPIED if table.name in tables):
                    rows = good_rows(copy, found.site, table, BadRows())
                    if table.name not in done.incomplete_tables:
                        rows = (row for row in rows if _key(table, row, site) in keys)
                    done.from_backup += insert_rows(connection, site, table, rows, next_revision(connection, site))
        except InvalidImportError:
            continue
        done.backup = str(backup)
        break
    gone = schema.quarantine
    for waiting in away:
        table = waiting.row.table
        present = (column == waiting.row.key[column.name] for column in table.primary_key)
        if connection.execute(sa.select(sa.literal(1)).select_from(table).where(*present)).first():
            connection.execute(gone.delete().where(gone.c.site == site, gone.c.id == waiting.id))


def _key(table: sa.Table, row: dict[str, Any], site: str) -> tuple[Any, ...]:
    return (table.name, *(site if column.name == "site" else row[column.name] for column in table.primary_key))


@contextmanager
def nobody_else(url: URL, site: str, robot_id: str, config: StoreConfig) -> Iterator[None]:
    """Hold the journal, as the robot that writes this memory does."""
    journal = Journal(locate(url, site, robot_id, config).journal, 1)
    if not journal.path.is_file():
        yield
        return
    try:
        journal.open()
    except StoreInUseError as error:
        raise StoreInUseError(f"{error}; stop it first") from None
    try:
        yield
    finally:
        journal.close()


def findings_of(url: URL, site: str, robot_id: str, config: StoreConfig) -> list[Finding]:
    """Return what is wrong with a store, also when it cannot be opened for that; see `check`."""
    try:
        with open_to_read(url, site, robot_id, config) as opened:
            return check(opened)
    except (ForeignFileError, MissingStoreError):
        raise
    except StoreError as error:
        return [Finding("error", str(error), REPAIR_ADVICE, structure=True)]
