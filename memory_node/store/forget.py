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
from memory_node.store.byte_search import ByteSearch
from memory_node.store.checksums import sealed
from memory_node.store.engine import for_writing, leave_wal, open_engine, parse_url, sqlite_path
from memory_node.store.export_log import noted_exports
from memory_node.store.forget_plan import ForgetPlan, find_objects, make_plan
from memory_node.store.forget_request import ForgetReport, ForgetRequest
from memory_node.store.forget_rows import RowForgetter
from memory_node.store.location import Folders
from memory_node.store.reader import reading
from memory_node.store.records import to_json
from memory_node.store.scrub import (
    empty_log,
    files_with_content,
    held_elsewhere,
    longer_words,
    needles_of,
    search_files,
    search_tables,
    vacuum,
)
from memory_node.store.terms import Terms
from memory_node.store.versioning import prepare


@dataclass(frozen=True)
class _Outcome:
    """What went from one database, and which bytes must not be found in its files."""

    plan: ForgetPlan
    counts: dict[str, int]
    blackened: int
    needles: list[bytes]

    @property
    def touched(self) -> bool:
        return bool(self.counts or self.blackened)


@dataclass(frozen=True)
class _Traces:
    """What may be found nowhere afterwards: words and ids, bytes of pictures, embeddings and places."""

    terms: Terms
    needles: ByteSearch


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
    outcomes = [*backups.outcomes, own]
    if not any(outcome.touched for outcome in outcomes):
        raise NotFoundError(f"nothing in the store of site {site!r} fits this request ({request.scope})")
    shutil.rmtree(folders.derived, ignore_errors=True)
    pictures = sum(f.forget(name) for f in (folders.images, folders.crops) for name in own.plan.objects)
    traces = _traces_of(request, outcomes)
    found = [
        *backups.found,
        *_clean(engine, site, _own_files(engine, folders), traces),
        *(str(finding.path) for finding in search_files(_other_files(folders), traces.terms, traces.needles)),
    ]
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


def _traces_of(request: ForgetRequest, outcomes: Sequence[_Outcome]) -> _Traces:
    ids = set().union(*(outcome.plan.objects | outcome.plan.episodes for outcome in outcomes))
    # Not the name of a class: every object that may be of this class contains it.
    terms = Terms([request.label.strip()] if request.label else [], ids)
    return _Traces(terms, ByteSearch({needle for outcome in outcomes for needle in outcome.needles}))


def _clean(engine: Engine, site: str, files: Sequence[Path], traces: _Traces) -> list[str]:
    """Overwrite what was deleted; return the database's files and tables that still contain some of it. SQLite
    overwrites deleted data with zeros. The whole file is rewritten only when a search finds a trace in the free space
    of a page.
    """
    if sqlite_path(engine.url) is None:
        vacuum(engine)
    else:
        empty_log(engine)
    left = _traces_in(engine, site, files, traces)
    if left and sqlite_path(engine.url) is not None:
        vacuum(engine)
        left = _traces_in(engine, site, files, traces)
    with reading(engine) as connection:
        tables = [f"table {name}" for name in search_tables(connection, site, traces.terms)]
    return [*map(str, left), *tables]


def _traces_in(engine: Engine, site: str, files: Sequence[Path], traces: _Traces) -> list[Path]:
    """Return the files in which a term or bytes are found that no row has that stays."""
    database = sqlite_path(engine.url)
    findings = search_files(files, traces.terms, traces.needles, database=database)
    if not findings:
        return []
    with reading(engine) as connection:
        needles = {needle for finding in findings for needle in finding.needles}
        gone = {needle for needle in needles if not held_elsewhere(connection, site, needle)}
        longer = longer_words(connection, site, traces.terms) if any(f.term for f in findings) else set()
    again = search_files([f.path for f in findings if f.term], traces.terms, ByteSearch(()), longer, database)
    named = {finding.path for finding in again}
    return [f.path for f in findings if f.path in named or f.needles & gone]


def _notes(engine: Engine, artifacts: Sequence[tuple[str, Path]], troubles: dict[Path, str]) -> Iterator[str]:
    for path, reason in troubles.items():
        yield f"backup {path} could not be cleaned ({reason}); delete it"
    for kind, path in artifacts:
        if kind == "backup" and not path.is_file():
            yield f"backup {path} is not there now; if it was moved, forget in it with --database"
    if engine.dialect.name == "postgresql":
        yield "the server's own log (pg_wal) and its archive keep old pages until they are recycled"


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
        needles = needles_of(connection, site, plan.objects)
        rows = RowForgetter(connection, site, request, plan, revision)
        rows.run(clock())
        counts = {name: count for name, count in rows.counts.items() if count}
        if counts or rows.blackened:
            _log(connection, site, request, robot_id, counts, clock())
        notify(connection, site, "", revision)
    return _Outcome(plan, counts, rows.blackened, needles)


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
        found = _clean(engine, site, files_with_content(path), _traces_of(requests[0], outcomes))
    finally:
        engine.dispose()
    leave_wal(path)
    return outcomes, found


def _own_files(engine: Engine, folders: Folders) -> list[Path]:
    path = sqlite_path(engine.url)
    files = files_with_content(path) if path is not None else []
    return files + ([folders.journal] if folders.journal.is_file() else [])


def _other_files(folders: Folders) -> list[Path]:
    return [found for found in folders.data.rglob("*") if found.is_file()]
