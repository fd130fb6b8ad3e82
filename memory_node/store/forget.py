"""Forgetting: in the database, its free pages, the files beside it, and its backups."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
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
from memory_node.store.checksums import sealed
from memory_node.store.engine import for_writing, leave_wal, open_engine
from memory_node.store.forget_plan import ForgetPlan, ForgetReport, ForgetRequest, find_objects, make_plan
from memory_node.store.forget_rows import RowForgetter
from memory_node.store.location import Folders, noted_exports, parse_url
from memory_node.store.reader import reading
from memory_node.store.records import to_json
from memory_node.store.scrub import search_tables, vacuum
from memory_node.store.site_database import prepare
from memory_node.store.terms import Terms


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
