"""Forgetting: in the database, its free pages, the files beside it, and its backups; and rewriting to free space."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import NotFoundError, StoreError
from memory_node.domain.ids import new_id
from memory_node.store import schema
from memory_node.store.apply import next_revision, notify
from memory_node.store.check import orphans
from memory_node.store.checksums import sealed
from memory_node.store.distribute import has_citus, kept_by_coordinator
from memory_node.store.engine import for_writing, leave_wal, open_engine, reason_of
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.forget_plan import (
    ForgetPlan,
    ForgetReport,
    ForgetRequest,
    Terms,
    find_objects,
    make_plan,
    rows_mentioning,
)
from memory_node.store.forget_rows import RowForgetter
from memory_node.store.inspection import database_bytes
from memory_node.store.location import Folders, noted_exports, parse_url, sqlite_path
from memory_node.store.reader import reading
from memory_node.store.records import to_json
from memory_node.store.site_database import prepare

# A table of the server's own with samples of ours; the owner of the database may rewrite it.
_STATISTICS = "pg_statistic"


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


def vacuum(engine: Engine, timeout_s: float = 30.0) -> list[str]:
    """Rewrite the database without its free pages, and empty the write-ahead log.

    Returns what a server left undone, and why: it skips tables of another owner with no more than a warning.

    Raises:
        StoreUnavailableError: others kept it busy all the time.
    """
    path = sqlite_path(engine.url)
    if path is None:
        return _vacuum_server(engine, time.monotonic() + timeout_s)
    deadline = time.monotonic() + timeout_s
    with _alone(path, timeout_s) as database:
        database.execute("VACUUM")
        while database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise StoreUnavailableError(f"the write-ahead log of {path} is in use; run `memory-node store compact`")
            time.sleep(0.05)
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
            for table in schema.metadata.sorted_tables:
                _rewrite(connection, table.name, deadline)
            # Analysing leaves the most common values of before in a page of the statistics.
            _rewrite(connection, _STATISTICS, deadline)
            undone += _rewrite_statistics_of_workers(connection)
        finally:
            database.remove_notice_handler(note)
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


def _rewrite_statistics_of_workers(connection: Connection) -> list[str]:
    """Return what the workers of Citus refused; the other tables are rewritten there by the coordinator's statement."""
    if not has_citus(connection):
        return []
    query = sa.text("SELECT nodename, result FROM run_command_on_workers(:command) WHERE NOT success")
    refused = connection.execute(query, {"command": _rewriting(_STATISTICS)})
    return [f"server: worker {worker}: {reason}" for worker, reason in refused]


def _rewriting(table: str) -> str:
    """Return the statement that rewrites a table."""
    # Not parametrised because it is a name of ours; VACUUM takes no parameters.
    return f'VACUUM (FULL, ANALYZE) "{table}"'


def _rewrite(connection: Connection, table: str, deadline: float) -> None:
    """Rewrite a table once nobody reads it; the role's own limit may end the wait for its lock."""
    while True:
        try:
            connection.execute(sa.text(_rewriting(table)))
        except sa.exc.OperationalError as error:
            if "lock timeout" not in str(error) or time.monotonic() > deadline:
                raise StoreUnavailableError(
                    f"table {table} cannot be rewritten now ({reason_of(error)}); run `memory-node store compact`"
                ) from error
        else:
            return


@contextmanager
def _alone(path: Path, timeout_s: float) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path, timeout=timeout_s, isolation_level=None)
    try:
        database.execute("PRAGMA secure_delete = ON")
        yield database
    except sqlite3.OperationalError as error:
        raise StoreUnavailableError(
            f"{path} cannot be rewritten now ({error}); run `memory-node store compact`"
        ) from error
    finally:
        database.close()


def search_tables(connection: Connection, site: str, terms: Terms) -> list[str]:
    """Return the tables of which a text still holds a term; the name of the site itself is no remembered text."""
    found: list[str] = []
    for table in (*schema.LOGGED, schema.sessions, schema.quarantine):
        names = [column.name for column in table.c if isinstance(column.type, sa.Text) and column.name != "site"]
        if next(rows_mentioning(connection, site, table, names, terms), None) is not None:
            found.append(table.name)
    return found


@dataclass(frozen=True)
class _Outcome:
    """What went from one database."""

    plan: ForgetPlan
    counts: dict[str, int]
    blackened: int

    @property
    def touched(self) -> bool:
        return bool(self.counts or self.blackened)


def forget(
    engine: Engine, site: str, request: ForgetRequest, robot_id: str, folders: Folders, clock: Clock = system_clock
) -> ForgetReport:
    """Forget what is asked for in all files that this tool wrote, and verify that it is gone.

    Raises:
        NotFoundError: nothing in the store fits the request.
        StoreUnavailableError: the rows are gone, but others kept the file busy so that it could not be rewritten.
    """
    artifacts = _artifacts(engine, site)
    # Backups come first: after an interruption the request can be made again.
    backups = _forget_in_backups(engine, site, artifacts, request, robot_id, clock)
    own = _forget_rows(engine, site, request, robot_id, clock)
    # One that was being made meanwhile may have been copied before, and registered after.
    late = [artifact for artifact in _artifacts(engine, site) if artifact not in artifacts]
    backups.add(_forget_in_backups(engine, site, late, request, robot_id, clock))
    outcomes = [*backups.outcomes, own]
    if not any(outcome.touched for outcome in outcomes):
        raise NotFoundError(f"nothing in the store of site {site!r} fits this request ({request.scope})")
    shutil.rmtree(folders.derived, ignore_errors=True)
    pictures = sum(f.forget(name) for f in (folders.images, folders.crops) for name in own.plan.objects)
    found = [*backups.found, *_clean(engine, site, _traces_of(request, outcomes))]
    if folders.journal_waits:
        found.append(f"{folders.journal}, until the robot that runs has written it into the database")
    return ForgetReport(
        scope=request.scope,
        counts={name: count for name, count in {**own.counts, "images": pictures}.items() if count},
        blackened=own.blackened,
        object_ids=tuple(sorted(own.plan.objects)),
        verified=not found and not backups.troubles,
        found=tuple(found),
        backups=tuple(str(path) for path in backups.paths if path not in backups.troubles),
        exports=tuple(str(path) for path in _exports(artifacts, folders) if path.exists()),
        notes=tuple(_notes(engine, artifacts, backups.troubles)),
    )


@dataclass(frozen=True)
class _Backups:
    """The backups that are there, what went from each, what could still be found, and why one could not be read."""

    paths: list[Path]
    outcomes: list[_Outcome] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    troubles: dict[Path, str] = field(default_factory=dict)

    def add(self, others: _Backups) -> None:
        """Take over what is known of other backups."""
        self.paths.extend(others.paths)
        self.outcomes.extend(others.outcomes)
        self.found.extend(others.found)
        self.troubles.update(others.troubles)


def _forget_in_backups(
    engine: Engine,
    site: str,
    artifacts: Sequence[tuple[str, Path]],
    request: ForgetRequest,
    robot_id: str,
    clock: Clock,
) -> _Backups:
    """Forget in every backup; one that is damaged must not keep everything else remembered."""
    backups = _Backups([path for kind, path in artifacts if kind == "backup" and path.is_file()])
    requests = _for_copies(engine, site, request) if backups.paths else []
    for path in backups.paths:
        try:
            outcomes, found = _forget_in_backup(path, requests, robot_id, clock)
        except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError, StoreError) as error:
            backups.troubles[path] = str(getattr(error, "orig", None) or error).partition("\n")[0]
        else:
            backups.outcomes.extend(outcomes)
            backups.found.extend(found)
    return backups


def _exports(artifacts: Sequence[tuple[str, Path]], folders: Folders) -> list[Path]:
    return list(dict.fromkeys([*(path for kind, path in artifacts if kind == "export"), *noted_exports(folders)]))


def _traces_of(request: ForgetRequest, outcomes: Sequence[_Outcome]) -> Terms:
    """Return the words and ids that may be found nowhere afterwards."""
    ids = set().union(*(outcome.plan.objects | outcome.plan.episodes for outcome in outcomes))
    # Not the name of a class: every object that may be of this class contains it.
    return Terms([request.label.strip()] if request.label else [], ids)


def _clean(engine: Engine, site: str, traces: Terms) -> list[str]:
    """Rewrite the database's files; return what could not be rewritten, and the tables that still hold a trace."""
    undone = vacuum(engine)
    with reading(engine) as connection:
        return [*undone, *(f"table {name}" for name in search_tables(connection, site, traces))]


def _notes(engine: Engine, artifacts: Sequence[tuple[str, Path]], troubles: dict[Path, str]) -> Iterator[str]:
    for path, reason in troubles.items():
        yield f"backup {path} could not be cleaned ({reason}); delete it"
    for kind, path in artifacts:
        if kind == "backup" and not path.is_file():
            yield f"backup {path} is not there now; if it was moved, forget in it with --database"
    if engine.dialect.name == "postgresql":
        yield "the server's own log (pg_wal), its archive, its replicas and its backups keep old pages until they go"


def _for_copies(engine: Engine, site: str, request: ForgetRequest) -> list[ForgetRequest]:
    """Return the requests for older copies: the same one, and the objects by id, which had other names then."""
    if request.object_ids:
        return [request]
    with reading(engine) as connection:
        ids = find_objects(connection, site, request)
    return [request, ForgetRequest(object_ids=tuple(sorted(ids)))] if ids else [request]


def _forget_rows(engine: Engine, site: str, request: ForgetRequest, robot_id: str, clock: Clock) -> _Outcome:
    with for_writing(engine.connect()) as connection, connection.begin():
        revision = next_revision(connection, site)
        plan = make_plan(connection, site, request)
        rows = RowForgetter(connection, site, request, plan, revision)
        rows.run(clock())
        counts = {name: count for name, count in rows.counts.items() if count}
        if counts or rows.blackened:
            _log(connection, site, request, robot_id, counts, clock())
        notify(connection, site, "", revision)
    return _Outcome(plan, counts, rows.blackened)


def _log(
    connection: Connection, site: str, request: ForgetRequest, robot_id: str, counts: dict[str, int], stamp_ns: int
) -> None:
    row: dict[str, Any] = {"id": new_id(), "robot_id": robot_id, "stamp_ns": stamp_ns}
    row.update(site=site, scope=request.scope, counts=to_json(counts))
    connection.execute(schema.forgettings.insert(), sealed(schema.forgettings, row))


def _artifacts(engine: Engine, site: str) -> list[tuple[str, Path]]:
    artifacts = schema.artifacts
    query = sa.select(artifacts.c.kind, artifacts.c.path).where(artifacts.c.site == site).order_by(artifacts.c.path)
    with engine.connect() as connection:
        return [(kind, Path(path)) for kind, path in connection.execute(query)]


def _forget_in_backup(
    path: Path, requests: Sequence[ForgetRequest], robot_id: str, clock: Clock
) -> tuple[list[_Outcome], list[str]]:
    """Forget in a backup file; return what went by each request, and what could still be found."""
    engine = open_engine(parse_url(path))
    try:
        site = prepare(engine, "", clock)
        outcomes = [_forget_rows(engine, site, request, robot_id, clock) for request in requests]
        found = [f"{path}: {one}" for one in _clean(engine, site, _traces_of(requests[0], outcomes))]
    finally:
        engine.dispose()
    leave_wal(path)
    return outcomes, found
