"""`store check --repair`: a damaged file is set aside, and a new one made of its rows and the newest backup."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

from memory_node.domain.clock import system_clock
from memory_node.domain.errors import StoreError
from memory_node.domain.resources import create_private
from memory_node.store import schema
from memory_node.store.apply import add_rows, next_revision
from memory_node.store.backup import is_whole, open_backup, rotated_backups
from memory_node.store.bad_rows import BadRows
from memory_node.store.check import findings_of, scan
from memory_node.store.config import StoreConfig
from memory_node.store.copying import COPIED, chunks_of, good_rows, insert_rows
from memory_node.store.engine import DATABASE_ERRORS, disposed, for_writing, leave_wal, open_engine, open_for_reading
from memory_node.store.errors import ForeignFileError, StoreInUseError, StoreUnavailableError
from memory_node.store.journal import Journal
from memory_node.store.location import locate, parse_url, sqlite_path
from memory_node.store.reader import lenient_text
from memory_node.store.site_database import create_tables, identity_of, make_tables, new_site, prepare, schema_version


def repair(url: URL, site: str, robot_id: str, config: StoreConfig) -> dict[str, Any]:
    """Mend a store that no robot uses; return what was done: rows and files, and where the damaged file is.

    Of a server, damaged rows are removed; it is backed up by its own means.

    Raises:
        StoreInUseError: a robot uses it.
        StoreUnavailableError: nothing of ours can be read in it, and there is no backup.
    """
    path = sqlite_path(url)
    with nobody_else(url, site, robot_id, config):
        done: dict[str, Any] = {}
        if path is None:
            done["removed"] = _remove_bad_rows(url, site)
        elif _is_damaged(url, site, robot_id, config):
            backups = rotated_backups(locate(url, site, robot_id, config).backups)
            done = _rebuild(path, site, next(filter(is_whole, backups), None))
    return {name: value for name, value in done.items() if value}


def _remove_bad_rows(url: URL, site: str) -> int:
    with disposed(open_engine(url, busy_timeout_s=10.0)) as engine:
        name = prepare(engine, site)
        with for_writing(engine.connect()) as connection, connection.begin():
            bad = BadRows()
            for table in (table for table in schema.SEALED if table is not schema.sites):
                deque(bad.sift(table, scan(connection, table, name)), maxlen=0)
            for row in bad:
                key = (column == value for column, value in zip(row.table.primary_key, row.key))
                connection.execute(row.table.delete().where(*key))
            _raise_revision(connection, name)
    return len(bad)


def _is_damaged(url: URL, site: str, robot_id: str, config: StoreConfig) -> bool:
    try:
        return any(finding.damage for finding in findings_of(url, site, robot_id, config))
    except ForeignFileError as error:
        if "empty" in str(error):
            raise
        return True


def _rebuild(path: Path, site: str, backup: Path | None) -> dict[str, Any]:
    """Replace a damaged file by a new one; return what was done.

    Tables of which rows are lost get what the backup has, unless it was forgotten since. site: what to call it where
    neither the file nor the backup says.
    """
    _migrate(path)
    new = path.with_name(path.name + ".part")
    new.unlink(missing_ok=True)
    create_private(new)
    bad, rescued, from_backup = BadRows(), 0, 0
    incomplete: list[str] = []
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
                for chunk in chunks_of(bad.sift(table, _readable(source, table, incomplete))):
                    add_rows(target, table, [row._asdict() for row in chunk])
                rescued += target.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            name = _name_site(target, site, backup)
            _raise_revision(target, name)
            if backup is not None:
                lacking = {*incomplete, *(row.table.name for row in bad)}
                from_backup = _fill(target, name, backup, [table for table in COPIED if table.name in lacking])
        leave_wal(new)
        if not rescued and backup is None:
            raise StoreUnavailableError(
                f"no row can be read in {path}, and no backup lies in {path}.data/backups; restore one from elsewhere"
            )
        done = {"set_aside": str(set_aside(path)), "rescued": rescued, "left_out": len(bad)}
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    backed_up = {"from_backup": from_backup, "backup": str(backup)} if from_backup else {}
    return {**done, "incomplete_tables": incomplete, **backed_up}


def _migrate(path: Path) -> None:
    """Bring an older release's file up to date, if it can be read so far."""
    with suppress(StoreError, *DATABASE_ERRORS):
        with disposed(open_for_reading(path)) as engine, engine.connect() as connection:
            version = schema_version(connection)
        if version not in (None, schema.SCHEMA_VERSION):
            with disposed(open_engine(parse_url(path))) as engine:
                make_tables(engine)


def _readable(source: Connection, table: sa.Table, incomplete: list[str]) -> Iterator[Any]:
    """Yield a table's rows from the first on, and where it breaks off, from the last one back."""
    for order in (sa.asc, sa.desc):
        try:
            yield from scan(source, table, "", order)
            return
        except DATABASE_ERRORS:
            continue
    incomplete.append(table.name)


def _name_site(target: Connection, site: str, backup: Path | None) -> str:
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
    target.execute(schema.sites.insert(), new_site(name, system_clock, identity))
    return name


def _fill(connection: Connection, site: str, backup: Path, tables: list[sa.Table]) -> int:
    """Take from a backup what tables lack; return how many rows."""
    revision = next_revision(connection, site)
    with open_backup(backup) as found, found.engine.connect() as copy:
        return sum(
            insert_rows(connection, site, table, good_rows(copy, found.site, table, BadRows()), revision)
            for table in tables
        )


def _raise_revision(connection: Connection, site: str) -> None:
    """Let no row have a revision above the site's, up to which robots take themselves to have seen all."""
    sites = schema.sites
    own = sa.select(sites.c.revision).where(sites.c.name == site)
    newest = [sa.select(sa.func.max(t.c.revision)).where(t.c.site == site) for t in (*schema.LOGGED, schema.tombstones)]
    revision = max(connection.execute(query).scalar_one() or 0 for query in (own, *newest))
    changed = sites.update().where(sites.c.name == site).values(revision=revision, revision_check=-revision)
    connection.execute(changed)


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
