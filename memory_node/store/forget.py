"""Forgetting: in the database, its free pages, the files beside it, and its backups; and rewriting to free space."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import NotFoundError, StoreError
from memory_node.domain.ids import new_id
from memory_node.store import schema
from memory_node.store.apply import notify
from memory_node.store.checksums import sealed
from memory_node.store.distribute import kept_by_coordinator
from memory_node.store.engine import disposed, for_writing, leave_wal, open_engine, reason_of
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.forget_plan import ForgetReport, ForgetRequest, Terms, find_objects, rows_mentioning
from memory_node.store.forget_rows import RowForgetter
from memory_node.store.inspection import database_bytes
from memory_node.store.location import Folders, erase_pictures, noted_exports, parse_url, sqlite_path
from memory_node.store.reader import reading
from memory_node.store.records import to_json
from memory_node.store.site_database import prepare

# A table of the server's own with the most common values of ours; the owner of the database may rewrite it.
_STATISTICS = "pg_statistic"


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


def _orphans(site: str) -> Iterator[tuple[sa.Table, sa.ColumnElement[bool]]]:
    """Yield each table with rows that no record needs any more, and their condition beside the site."""
    objects, documents, supports = schema.objects, schema.documents, schema.supports
    for table in (schema.appearances, schema.places):
        yield table, table.c.object_id.not_in(sa.select(objects.c.id).where(objects.c.site == site))
    known = sa.exists().where(
        documents.c.site == site, documents.c.kind == supports.c.record_kind, documents.c.id == supports.c.record_id
    )
    yield supports, sa.not_(known)


def vacuum(engine: Engine, timeout_s: float = 30.0) -> list[str]:
    """Rewrite the database without its free pages, and empty the write-ahead log.

    Returns what a server left undone, and why: it skips tables of another owner with no more than a warning.

    Raises:
        StoreUnavailableError: others kept it busy all the time.
    """
    path, deadline = sqlite_path(engine.url), time.monotonic() + timeout_s
    if path is None:
        return _vacuum_server(engine, deadline)
    try:
        with closing(sqlite3.connect(path, timeout=timeout_s, isolation_level=None)) as database:
            database.execute("PRAGMA secure_delete = ON")
            database.execute("VACUUM")
            while database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise sqlite3.OperationalError("its write-ahead log is in use")
                time.sleep(0.05)
    except sqlite3.OperationalError as error:
        raise StoreUnavailableError(
            f"{path} cannot be rewritten now ({error}); run `memory-node store compact`"
        ) from error
    return []


def _vacuum_server(engine: Engine, deadline: float) -> list[str]:
    undone: list[str] = []

    def note(notice: Any) -> None:
        if notice.severity_nonlocalized == "WARNING":
            undone.append(f"server: {notice.message_primary}")

    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        database: Any = connection.connection.driver_connection
        database.add_notice_handler(note)
        try:
            if not _is_seen_by_nobody(connection, deadline):
                undone.append("server: another session may still see what was removed, so its files keep it")
            # The role's own limit may be shorter.
            connection.execute(sa.text(f"SET lock_timeout = '{max(deadline - time.monotonic(), 1.0):g}s'"))
            for name in (*(table.name for table in schema.metadata.sorted_tables), _STATISTICS):
                connection.execute(sa.text(f'VACUUM (FULL, ANALYZE) "{name}"'))
        except sa.exc.OperationalError as error:
            raise StoreUnavailableError(
                f"the tables cannot be rewritten now ({reason_of(error)}); run `memory-node store compact`"
            ) from error
        finally:
            database.remove_notice_handler(note)
            connection.detach()  # with its limit
        kept = kept_by_coordinator(connection)
    if kept:
        undone.append(f"server: the coordinator keeps rows of {', '.join(kept)}; run `memory-node store distribute`")
    return undone


def _is_seen_by_nobody(connection: Connection, deadline: float) -> bool:
    """Wait until no session reads the database as it was before; return whether that came in time. VACUUM keeps what
    one could still see, such as a row that was deleted, though none looks at it."""
    now = connection.scalar(sa.text("SELECT pg_current_xact_id()::xid::text"))
    query = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND age(backend_xmin) >= age(CAST(:now AS xid))"
    )
    while connection.scalar(query, {"now": now}):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def forget(
    engine: Engine, site: str, request: ForgetRequest, robot_id: str, folders: Folders, clock: Clock = system_clock
) -> ForgetReport:
    """Forget what is asked for in all files that this tool wrote, and verify that it is gone.

    Raises:
        NotFoundError: nothing in the store fits the request.
        StoreUnavailableError: the rows are gone, but others kept the file busy so that it could not be rewritten.
    """
    requests = [request]
    if not request.object_ids:
        # In older copies the objects had other names.
        with reading(engine) as connection:
            ids = find_objects(connection, site, request)
        requests += [ForgetRequest(object_ids=tuple(sorted(ids)))] if ids else []
    own = _forget_rows(engine, site, request, robot_id, clock)
    outcomes, found, troubles = [own], [], {}
    # A backup that is being made meanwhile is given up, see `backup`.
    for path in filter(Path.is_file, _files(engine, site, "backup")):
        # One that is damaged must not keep everything else remembered.
        troubles[path] = ""
        try:
            gone, left = _forget_in_backup(path, requests, robot_id, clock)
            outcomes += gone
            found += left
        except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError, StoreError) as error:
            troubles[path] = reason_of(error)
    if not any(outcome.touched for outcome in outcomes):
        raise NotFoundError(f"nothing in the store of site {site!r} fits this request ({request.scope})")
    shutil.rmtree(folders.derived, ignore_errors=True)
    pictures = sum(erase_pictures(folders.crops, object_id) for object_id in own.plan.objects)
    found += _clean(engine, site, request, outcomes)
    if folders.journal_waits:
        found.append(f"{folders.journal}, until the robot that runs has written it into the database")
    exports = dict.fromkeys([*_files(engine, site, "export"), *noted_exports(folders)])
    return ForgetReport(
        scope=request.scope,
        counts={**own.counts, **({"images": pictures} if pictures else {})},
        blackened=own.blackened,
        object_ids=tuple(sorted(own.plan.objects)),
        verified=not found and not any(troubles.values()),
        found=tuple(found),
        backups=tuple(str(path) for path, trouble in troubles.items() if not trouble),
        exports=tuple(str(path) for path in exports if path.exists()),
        notes=tuple(_notes(engine, site, troubles)),
    )


def _forget_in_backup(
    path: Path, requests: Sequence[ForgetRequest], robot_id: str, clock: Clock
) -> tuple[list[RowForgetter], list[str]]:
    """Return what went from a backup, and where a trace is left in it."""
    with disposed(open_engine(parse_url(path))) as engine:
        site = prepare(engine, "", clock)
        gone = [_forget_rows(engine, site, request, robot_id, clock) for request in requests]
        left = [f"{path}: {one}" for one in _clean(engine, site, requests[0], gone)]
    leave_wal(path)
    return gone, left


def _files(engine: Engine, site: str, kind: str) -> list[Path]:
    """Return the registered files of a kind; exports are noted elsewhere since the second release."""
    artifacts = schema.artifacts
    query = sa.select(artifacts.c.path).where(artifacts.c.site == site, artifacts.c.kind == kind)
    with engine.connect() as connection:
        return [Path(path) for path in connection.execute(query.order_by(artifacts.c.path)).scalars()]


def _clean(engine: Engine, site: str, request: ForgetRequest, outcomes: Sequence[RowForgetter]) -> list[str]:
    """Rewrite the database's files; return what could not be rewritten, and the tables that still hold a trace."""
    found = vacuum(engine)
    ids = set().union(*(outcome.plan.objects | outcome.plan.episodes for outcome in outcomes))
    # Not the name of a class: every object that may be of this class contains it.
    traces = Terms([request.label.strip()] if request.label else [], ids)
    with reading(engine) as connection:
        for table in (*schema.LOGGED, schema.sessions):
            # The name of the site itself is no remembered text.
            names = [column.name for column in table.c if isinstance(column.type, sa.Text) and column.name != "site"]
            if any(True for _ in rows_mentioning(connection, site, table, names, traces)):
                found.append(f"table {table.name}")
    return found


def _notes(engine: Engine, site: str, troubles: dict[Path, str]) -> Iterator[str]:
    for path, reason in troubles.items():
        if reason:
            yield f"backup {path} could not be cleaned ({reason}); delete it"
    for path in _files(engine, site, "backup"):
        if not path.is_file():
            yield f"backup {path} is not there now; if it was moved, forget in it with --database"
    if engine.dialect.name == "postgresql":
        yield "the server's own log (pg_wal), its archive, its replicas and its backups keep old pages until they go"


def _forget_rows(engine: Engine, site: str, request: ForgetRequest, robot_id: str, clock: Clock) -> RowForgetter:
    with for_writing(engine.connect()) as connection, connection.begin():
        gone = RowForgetter(connection, site, request)
        gone.run(clock())
        if gone.touched:
            row: dict[str, Any] = {"id": new_id(), "robot_id": robot_id, "stamp_ns": clock()}
            row.update(site=site, scope=request.scope, counts=to_json(gone.counts))
            connection.execute(schema.forgettings.insert(), sealed(schema.forgettings, row))
        notify(connection, site, "", gone.revision)
    return gone
