"""`store check --repair`: puts away what cannot be read, and takes what is missing from the newest backup."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.resources import create_private
from memory_node.store import schema
from memory_node.store.apply import add_rows, next_revision
from memory_node.store.backup import is_whole, open_backup, rotated_backups
from memory_node.store.check import findings_of, scan
from memory_node.store.config import StoreConfig
from memory_node.store.copying import COPIED, chunks_of, good_rows, insert_rows
from memory_node.store.engine import DATABASE_ERRORS, disposed, for_writing, leave_wal, open_engine, open_for_reading
from memory_node.store.errors import ForeignFileError, StoreInUseError, StoreUnavailableError
from memory_node.store.journal import Journal
from memory_node.store.location import locate, parse_url, sqlite_path
from memory_node.store.quarantine import BadRows, put_row_away, quarantined, this_row
from memory_node.store.reader import lenient_text
from memory_node.store.site_database import create_tables, identity_of, new_site, prepare


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
        backup = next(filter(is_whole, rotated_backups(folders.backups)), None)
        if path is not None and _is_broken(url, site, robot_id, config):
            _rescue(path, site, backup, clock, done)
        with disposed(open_engine(url, busy_timeout_s=10.0)) as engine:
            name = prepare(engine, site)
            with for_writing(engine.connect()) as connection, connection.begin(), lenient_text(connection):
                _put_away(connection, name, done, clock())
                _correct_revision(connection, name)
                _fill_gaps(connection, name, backup, done)
                if discard:
                    away = schema.quarantine
                    done.discarded = connection.execute(away.delete().where(away.c.site == name)).rowcount
        for image in (*folders.images.damaged(), *folders.crops.damaged()):
            image.unlink()
            done.images_removed += 1
    return {name: value for name, value in asdict(done).items() if value}


def _is_broken(url: URL, site: str, robot_id: str, config: StoreConfig) -> bool:
    """Return whether more than rows of a SQLite file are damaged."""
    try:
        return any(finding.structure for finding in findings_of(url, site, robot_id, config))
    except ForeignFileError as error:
        if "empty" in str(error):
            raise
        return True
    except DATABASE_ERRORS:
        return True


def _rescue(path: Path, site: str, backup: Path | None, clock: Clock, done: Repaired) -> None:
    """Replace a damaged file that nobody uses by a new one with all rows that can still be read; it is kept beside.

    site: what to call it where neither the file nor the backup says.
    """
    new = path.with_name(path.name + ".part")
    new.unlink(missing_ok=True)
    create_private(new)
    bad = BadRows()
    try:
        with (
            disposed(open_for_reading(path)) as damaged,
            disposed(open_engine(parse_url(new))) as engine,
            damaged.connect() as source,
            lenient_text(source),
            for_writing(engine.connect()) as target,
            target.begin(),
        ):
            create_tables(target)
            for table in schema.SEALED:
                for chunk in chunks_of(bad.sift(table, _readable(source, table, done))):
                    add_rows(target, table, [row._asdict() for row in chunk])
                done.rescued += target.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            name = _name_site(target, site, backup, clock)
            for row in bad:
                if row.table is not schema.sites:
                    put_row_away(target, name, row, clock())
        leave_wal(new)
        if not done.rescued and backup is None:
            raise StoreUnavailableError(
                f"no row can be read in {path}, and no backup lies in {path}.data/backups; restore one from elsewhere"
            )
        done.set_aside = str(set_aside(path))
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _readable(source: Connection, table: sa.Table, done: Repaired) -> Iterator[Any]:
    """Yield a table's rows from the first on, and where it breaks off, from the last one back."""
    for order in (sa.asc, sa.desc):
        try:
            yield from scan(source, table, "", order)
            return
        except DATABASE_ERRORS:
            continue
    done.incomplete_tables.append(table.name)


def _name_site(target: Connection, site: str, backup: Path | None, clock: Clock) -> str:
    """Return the new file's site: as the old one or its rows say, else the backup, else the caller."""
    named = target.execute(sa.select(schema.sites.c.name)).scalar()
    if named is not None:
        return str(named)
    backed_up = identity = ""
    if backup is not None:
        with open_backup(backup) as found, found.engine.connect() as connection:
            backed_up, identity = found.site, identity_of(connection, found.site)
    found_sites = (target.execute(sa.select(table.c.site).limit(1)).scalar() for table in schema.LOGGED)
    name = next(filter(None, found_sites), site or backed_up or "home")
    target.execute(schema.sites.insert(), new_site(name, clock, identity))
    return name


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


def _fill_gaps(connection: Connection, site: str, backup: Path | None, done: Repaired) -> None:
    """Take from a backup what is missing in the tables of which rows are put away, or that break off."""
    away = quarantined(connection, site)
    tables = {row.table.name for row in away} | set(done.incomplete_tables)
    if backup is not None and tables:
        revision = next_revision(connection, site)
        with open_backup(backup) as found, found.engine.connect() as copy:
            for table in (table for table in COPIED if table.name in tables):
                rows = good_rows(copy, found.site, table, BadRows())
                done.from_backup += insert_rows(connection, site, table, rows, revision)
        done.backup = str(backup)
    gone = schema.quarantine
    for row in away:
        present = (column == row.key[column.name] for column in row.table.primary_key)
        if connection.execute(sa.select(sa.literal(1)).select_from(row.table).where(*present)).first():
            connection.execute(gone.delete().where(gone.c.site == site, gone.c.id == row.digest))


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
