"""Reads what the store holds, each answer from one consistent snapshot of the database."""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.scene import Place, SceneSnapshot
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import schema
from memory_node.store.apply import read_tombstones, tombstone_of
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import SEALS
from memory_node.store.engine import DATABASE_ERRORS, reason_of, with_quiet_limit
from memory_node.store.errors import DamagedTextError, StoreUnavailableError
from memory_node.store.merge import merge_beliefs
from memory_node.store.records import Belief, Document, Removed, StoreChange
from memory_node.store.row_values import UNREADABLE, check_object
from memory_node.store.rows import (
    MAP_TABLES,
    belief_of,
    episode_of,
    map_record,
    place_of,
    steps_from_rows,
)


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the garbage collector from visiting a million new values while they are read, and in each later run. It then
    visits none of the process's objects, and frees no cycles among them; see collect_again().
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def collect_again() -> None:
    """Let the collector visit the excluded objects again: a memory's parts form cycles and are freed in no other way.
    Rows of other open stores are visited again, too; a full collection then takes half a second for a million rows.
    """
    gc.unfreeze()


# Raises an error if the owner of a document cannot read its body.
BodyCheck = Callable[[dict[str, Any]], object]


def read_documents(
    connection: Connection, site: str, bad: BadRows, checks: Mapping[str, BodyCheck], *conditions: Any
) -> list[Document]:
    """Return of each document the newest version of any robot that can be read, given-up ones included.

    checks: by kind, what raises an error of a body that the owner of this kind could not read.
    """
    supports = schema.supports
    newest = {(one.kind, one.id): one for one in read_bodies(connection, site, bad, checks, *conditions)}
    sources: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    kinds = sorted({kind for kind, _ in newest})
    linked = sa.select(supports).where(supports.c.site == site, supports.c.record_kind.in_(kinds))
    linked = linked.order_by(supports.c.source_kind, supports.c.source_id)
    for row in bad.sift(supports, connection.execute(linked)) if kinds else ():
        sources[row.record_kind, row.record_id].append((row.source_kind, row.source_id))
    return [replace(document, sources=tuple(sources[key])) for key, document in newest.items()]


def read_bodies(
    connection: Connection, site: str, bad: BadRows, checks: Mapping[str, BodyCheck], *conditions: Any
) -> list[Document]:
    """Return what read_documents() does, without sources, which would be a million rows more to read."""
    documents = schema.documents
    query = sa.select(documents).where(documents.c.site == site, *conditions)
    rows = connection.execute(
        query.order_by(documents.c.kind, documents.c.id, documents.c.stamp_ns, documents.c.robot_id)
    )
    newest: dict[tuple[str, str], Document] = {}
    for row in bad.sift(documents, rows):
        body = json.loads(row.body)
        fault = _owners_fault(checks, row, body)
        if fault:
            bad.note(documents, row, fault)
        else:
            newest[row.kind, row.id] = Document(row.kind, row.id, body, row.stamp_ns, (), bool(row.removed))
    return list(newest.values())


def _owners_fault(checks: Mapping[str, BodyCheck], row: Any, body: dict[str, Any]) -> str:
    if row.kind not in checks or row.removed:
        return ""
    try:
        checks[row.kind](body)
    except UNREADABLE as error:
        return f"{row.kind}: {type(error).__name__}: {error}"
    return ""


_CHUNK = 10_000


@contextmanager
def reading(engine: Engine, lenient: bool = False, quiet_limit_s: float | None = None) -> Iterator[Connection]:
    """Give a connection whose reads all see one moment.

    lenient: of SQLite, bytes that are no text come as surrogates, where otherwise they end the read.
    quiet_limit_s: a server that says nothing for so long counts as away; None: it is waited for.

    Raises:
        DamagedTextError: there are such bytes.
        StoreUnavailableError: the database cannot be read now.
    """
    try:
        with engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
                connection = with_quiet_limit(connection, quiet_limit_s)
            with connection.begin(), lenient_text(connection) if lenient else nullcontext():
                yield connection
    except DATABASE_ERRORS as error:
        if "Could not decode to UTF-8" in str(error):
            raise DamagedTextError("a text in the store is damaged") from error
        raise StoreUnavailableError(f"the store cannot be read now: {reason_of(error)}") from error


@contextmanager
def lenient_text(connection: Connection) -> Iterator[None]:
    """Let bytes of SQLite that are no text come as surrogates."""
    if connection.dialect.name != "sqlite":
        yield
        return
    database: Any = connection.connection.driver_connection
    database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        database.text_factory = str


Found = TypeVar("Found")


def read_leniently(
    engine: Engine, read: Callable[[Connection, BadRows], Found], quiet_limit_s: float | None = None
) -> tuple[Found, BadRows]:
    """Return what `read` finds, and the rows that it could not read; quiet_limit_s: as of `reading`.

    Raises:
        StoreUnavailableError: the database cannot be read now.
    """
    for lenient in (False, True):
        bad = BadRows()
        try:
            with reading(engine, lenient, quiet_limit_s) as connection:
                return read(connection, bad), bad
        except DamagedTextError:
            if lenient:
                raise
    raise AssertionError("a lenient read ends either way")


def revision_of(connection: Connection, site: str) -> int:
    """Return the site's revision."""
    return connection.execute(sa.select(schema.sites.c.revision).where(schema.sites.c.name == site)).scalar_one()


def read_beliefs(connection: Connection, site: str, bad: BadRows, *conditions: Any) -> list[Belief]:
    """Return each robot's beliefs of the objects that fulfil `conditions` on `objects`, by object and robot."""
    objects, appearances, places = schema.objects, schema.appearances, schema.places
    query = sa.select(objects).where(objects.c.site == site, *conditions).order_by(objects.c.id, objects.c.robot_id)
    rows = connection.execute(query).all()
    if not rows:
        return []
    chosen = sa.select(objects.c.id).where(objects.c.site == site, *conditions).scalar_subquery()

    def belonging(table: sa.Table) -> Iterator[Any]:
        among = table.c.object_id.in_(chosen) if conditions else sa.true()
        query = sa.select(table).where(table.c.site == site, among)
        return bad.sift(table, connection.execute(query))

    look = {(row.object_id, row.robot_id): (row.embedding, row.crop_jpeg) for row in belonging(appearances)}
    history: defaultdict[tuple[str, str], list[Place]] = defaultdict(list)
    for row in belonging(places):
        history[row.object_id, row.robot_id].append(place_of(row))
    return list(_beliefs(rows, look, history, bad))


def _beliefs(
    rows: Sequence[Any],
    look: Mapping[tuple[str, str], tuple[bytes, bytes]],
    history: Mapping[tuple[str, str], list[Place]],
    bad: BadRows,
) -> Iterator[Belief]:
    checksum_fault = SEALS[schema.objects.name].fault
    for row in rows:
        fault = checksum_fault(row)
        try:
            body = {} if fault else check_object(row)
        except UNREADABLE as error:
            fault = str(error)
        if fault:
            bad.note(schema.objects, row, fault)
            continue
        key = (row.id, row.robot_id)
        places = sorted(history.get(key, ()), key=lambda place: place.since_ns)
        yield belief_of(row, body, look.get(key, (b"", b"")), tuple(places))


def merged(beliefs: Sequence[Belief]) -> list[Belief]:
    """Return one belief an object, of beliefs in the order of objects."""
    found: list[Belief] = []
    start = 0
    for end in range(1, len(beliefs) + 1):
        if end == len(beliefs) or beliefs[end].object.id != beliefs[start].object.id:
            found.append(beliefs[start] if end == start + 1 else merge_beliefs(beliefs[start:end]))
            start = end
    return found


def foreign_counts(beliefs: Sequence[Belief], robot_id: str) -> dict[str, tuple[int, int]]:
    """Return by object id how often robots other than this one saw and missed it; absent where none did."""
    counts: dict[str, tuple[int, int]] = {}
    for belief in beliefs:
        if belief.robot_id != robot_id:
            seen, missed = counts.get(belief.object.id, (0, 0))
            counts[belief.object.id] = (seen + belief.object.times_seen, missed + belief.object.times_missed)
    return counts


def read_map(
    connection: Connection, site: str, bad: BadRows, since_revision: int = -1, not_session: str = ""
) -> dict[str, tuple[list[Any], list[Any]]]:
    """Return by table (present records, removed records) that changed after a revision, but not in a session."""
    found: dict[str, tuple[list[Any], list[Any]]] = {}
    for kind, name in MAP_TABLES.items():
        table = schema.metadata.tables[name]
        present: list[Any] = []
        removed: list[Any] = []
        newer = (table.c.revision > since_revision, table.c.session_id != not_session)
        query = sa.select(table).where(table.c.site == site, *newer)
        for row in bad.sift(table, connection.execute(query.order_by(*table.primary_key))):
            (removed if row.removed else present).append(map_record(kind, row))
        found[name] = (present, removed)
    return found


def read_scene(connection: Connection, site: str, stamp_ns: int, bad: BadRows) -> tuple[SceneSnapshot, list[Belief]]:
    """Return the scene graph, merged over its robots, and what each believes; `version` is the site's revision."""
    beliefs = read_beliefs(connection, site, bad)
    objects = tuple(belief.object for belief in merged(beliefs) if not belief.merged_into)
    floors, rooms, areas, relations = (tuple(present) for present, _ in read_map(connection, site, bad).values())
    version = revision_of(connection, site)
    return SceneSnapshot(stamp_ns, floors, rooms, areas, objects, relations, version=version), beliefs


def read_steps(connection: Connection, site: str, bad: BadRows, *conditions: Any) -> Iterator[StepRecord]:
    """Yield steps in the order of episode and index, in chunks so that a million needs little memory."""
    steps = schema.steps
    query = sa.select(steps).where(steps.c.site == site, *conditions)
    query = query.order_by(steps.c.episode_id, steps.c.step_index)
    result = connection.execute(query.execution_options(yield_per=_CHUNK))
    for chunk in result.partitions(_CHUNK):
        yield from steps_from_rows(chunk, bad)


def read_episodes(
    connection: Connection, site: str, bad: BadRows, *conditions: Any, newest: int = 0
) -> list[EpisodeSummary]:
    """Return episodes by the time of their start; newest: at most so many, the last ones (0: all)."""
    episodes = schema.episodes
    query = sa.select(episodes).where(episodes.c.site == site, *conditions)
    query = query.order_by(episodes.c.started_ns.desc(), episodes.c.id.desc())
    rows = connection.execute(query.limit(newest) if newest else query)
    return [episode_of(row) for row in bad.sift(episodes, rows)][::-1]


def read_changes(
    connection: Connection,
    site: str,
    since_revision: int,
    own: tuple[str, str],
    known_ids: Iterable[str],
    bad: BadRows,
    checks: Mapping[str, BodyCheck],
) -> tuple[StoreChange, list[Belief]]:
    """Return what sessions other than one's own committed after a revision, and the merges that own facts changed.

    Beside it, what each robot believes of the objects in it. own: robot and session. known_ids: the objects among which
    the forgotten ones are sought.
    """
    own_robot, own_session = own
    revision = revision_of(connection, site)

    def newer(table: sa.Table) -> tuple[Any, Any]:
        return table.c.revision > since_revision, table.c.session_id != own_session

    objects = schema.objects
    shared = sa.select(objects.c.id).where(objects.c.site == site, objects.c.robot_id != own_robot)
    foreign = sa.or_(objects.c.session_id != own_session, objects.c.id.in_(shared))
    ids = sa.select(objects.c.id).where(objects.c.site == site, objects.c.revision > since_revision, foreign)
    each = read_beliefs(connection, site, bad, objects.c.id.in_(ids))
    beliefs = merged(each)
    found = read_map(connection, site, bad, since_revision, own_session)
    dead = read_tombstones(connection, site, since_revision)
    forgotten = [object_id for object_id in known_ids if tombstone_of("object", object_id) in dead] if dead else []
    merged_away = [belief.object.id for belief in beliefs if belief.merged_into]
    change = StoreChange(
        revision=revision,
        objects=tuple(belief.object for belief in beliefs if not belief.merged_into),
        gone=(*merged_away, *forgotten),
        forgotten=frozenset(dead),
        floors=tuple(found["floors"][0]),
        rooms=tuple(found["rooms"][0]),
        areas=tuple(found["areas"][0]),
        relations=tuple(found["relations"][0]),
        removed=tuple(Removed(record) for _, gone in found.values() for record in gone),
        episodes=tuple(read_episodes(connection, site, bad, *newer(schema.episodes))),
        steps=tuple(read_steps(connection, site, bad, *newer(schema.steps))),
        documents=tuple(read_documents(connection, site, bad, checks, *newer(schema.documents))),
    )
    return change, each
