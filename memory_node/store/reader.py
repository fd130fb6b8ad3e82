"""Reads what the store holds, each answer from one consistent snapshot of the database."""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.scene import Place, SceneSnapshot
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import schema
from memory_node.store.engine import reason_of
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.merge import merge_beliefs
from memory_node.store.object_rows import beliefs_from_rows, place_of
from memory_node.store.records import Belief, Document, Removed, StoreChange
from memory_node.store.rows import (
    STEP_COLUMNS,
    area_of,
    episode_of,
    floor_of,
    relation_of,
    room_of,
    steps_from_rows,
)
from memory_node.store.tombstones import read_tombstones, tombstone_of

_CHUNK = 10_000
MAP_TABLES = {"floors": floor_of, "rooms": room_of, "areas": area_of, "relations": relation_of}


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Give a connection whose reads all see one moment.

    Raises:
        StoreUnavailableError: the database cannot be read now.
    """
    try:
        with engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection
    except sa.exc.DBAPIError as error:
        raise StoreUnavailableError(f"the store cannot be read now: {reason_of(error)}") from error


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the garbage collector from walking a million new values while they are read, and at each later turn.

    What was read stays as long as the memory does; it is freed by its reference count all the same.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def revision_of(connection: Connection, site: str) -> int:
    """Return the site's revision."""
    return connection.execute(sa.select(schema.sites.c.revision).where(schema.sites.c.name == site)).scalar_one()


def read_beliefs(connection: Connection, site: str, *conditions: Any) -> list[Belief]:
    """Return the merged beliefs of the objects that fulfil `conditions` on `objects`, by id."""
    objects, appearances, places = schema.objects, schema.appearances, schema.places
    rows = connection.execute(
        sa.select(objects).where(objects.c.site == site, *conditions).order_by(objects.c.id, objects.c.robot_id)
    ).all()
    if not rows:
        return []
    chosen = sa.select(objects.c.id).where(objects.c.site == site, *conditions).scalar_subquery()
    look: dict[tuple[str, str], tuple[bytes, bytes]] = {}
    columns = (appearances.c.object_id, appearances.c.robot_id, appearances.c.embedding, appearances.c.crop_jpeg)
    among = appearances.c.object_id.in_(chosen) if conditions else sa.true()
    for object_id, robot_id, embedding, crop_jpeg in connection.execute(
        sa.select(*columns).where(appearances.c.site == site, among)
    ):
        look[object_id, robot_id] = (embedding, crop_jpeg)
    history: defaultdict[tuple[str, str], list[Place]] = defaultdict(list)
    among = places.c.object_id.in_(chosen) if conditions else sa.true()
    for row in connection.execute(
        sa.select(places).where(places.c.site == site, among).order_by(places.c.object_id, places.c.since_ns)
    ):
        history[row.object_id, row.robot_id].append(place_of(row))
    histories = {key: tuple(entries) for key, entries in history.items()}
    return _merged(list(beliefs_from_rows(rows, look, histories)))


def _merged(beliefs: Sequence[Belief]) -> list[Belief]:
    merged: list[Belief] = []
    start = 0
    for end in range(1, len(beliefs) + 1):
        if end == len(beliefs) or beliefs[end].object.id != beliefs[start].object.id:
            merged.append(beliefs[start] if end == start + 1 else merge_beliefs(beliefs[start:end]))
            start = end
    return merged


def read_foreign_counts(
    connection: Connection, site: str, robot_id: str, *conditions: Any
) -> dict[str, tuple[int, int]]:
    """Return by object id how often robots other than this one saw and missed it; absent where none did."""
    objects = schema.objects
    sums = (sa.func.sum(objects.c.times_seen), sa.func.sum(objects.c.times_missed))
    foreign = objects.c.robot_id != robot_id
    query = sa.select(objects.c.id, *sums).where(objects.c.site == site, foreign, *conditions)
    rows = connection.execute(query.group_by(objects.c.id))
    return {object_id: (int(seen), int(missed)) for object_id, seen, missed in rows}


def read_map(
    connection: Connection, site: str, since_revision: int = -1, not_session: str = ""
) -> dict[str, tuple[list[Any], list[Any]]]:
    """Return by table (present records, removed records) that changed after a revision, but not in a session."""
    found: dict[str, tuple[list[Any], list[Any]]] = {}
    for name, build in MAP_TABLES.items():
        table = schema.metadata.tables[name]
        present: list[Any] = []
        removed: list[Any] = []
        newer = (table.c.revision > since_revision, table.c.session_id != not_session)
        query = sa.select(table).where(table.c.site == site, *newer)
        for row in connection.execute(query.order_by(*table.primary_key)):
            (removed if row.removed else present).append(build(row))
        found[name] = (present, removed)
    return found


def read_scene(connection: Connection, site: str, stamp_ns: int) -> SceneSnapshot:
    """Return the scene graph, merged over its robots; `version` is the site's revision."""
    beliefs = read_beliefs(connection, site)
    objects = tuple(belief.object for belief in beliefs if not belief.merged_into)
    floors, rooms, areas, relations = (tuple(present) for present, _ in read_map(connection, site).values())
    return SceneSnapshot(stamp_ns, floors, rooms, areas, objects, relations, version=revision_of(connection, site))


def read_steps(connection: Connection, site: str, *conditions: Any) -> Iterator[StepRecord]:
    """Yield steps in the order of episode and index, in chunks so that a million needs little memory."""
    steps = schema.steps
    query = sa.select(*(steps.c[name] for name in STEP_COLUMNS)).where(steps.c.site == site, *conditions)
    query = query.order_by(steps.c.episode_id, steps.c.step_index)
    result = connection.execute(query.execution_options(yield_per=_CHUNK))
    for chunk in result.partitions(_CHUNK):
        yield from steps_from_rows(chunk)


def read_episodes(connection: Connection, site: str, *conditions: Any, newest: int = 0) -> list[EpisodeSummary]:
    """Return episodes by the time of their start; newest: at most so many, the last ones (0: all)."""
    episodes = schema.episodes
    query = sa.select(episodes).where(episodes.c.site == site, *conditions)
    query = query.order_by(episodes.c.started_ns.desc(), episodes.c.id.desc())
    found = [episode_of(row) for row in connection.execute(query.limit(newest) if newest else query)]
    return found[::-1]


def read_documents(connection: Connection, site: str, *conditions: Any) -> list[Document]:
    """Return of each document the newest version of any robot, given-up ones included."""
    documents, supports = schema.documents, schema.supports
    query = sa.select(documents).where(documents.c.site == site, *conditions)
    rows = connection.execute(
        query.order_by(documents.c.kind, documents.c.id, documents.c.stamp_ns, documents.c.robot_id)
    ).all()
    newest = {(row.kind, row.id): row for row in rows}
    sources: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    kinds = sorted({kind for kind, _ in newest})
    linked = sa.select(supports).where(supports.c.site == site, supports.c.record_kind.in_(kinds))
    for row in connection.execute(linked.order_by(supports.c.source_kind, supports.c.source_id)) if kinds else ():
        sources[row.record_kind, row.record_id].append((row.source_kind, row.source_id))
    return [
        Document(row.kind, row.id, json.loads(row.body), row.stamp_ns, tuple(sources[key]), bool(row.removed))
        for key, row in newest.items()
    ]


def read_changes(
    connection: Connection, site: str, since_revision: int, own: tuple[str, str], known_ids: Iterable[str]
) -> StoreChange:
    """Return what sessions other than one's own committed after a revision, and the merges that own facts changed.

    own: robot and session. known_ids: the objects among which the forgotten ones are sought.
    """
    own_robot, own_session = own
    revision = revision_of(connection, site)

    def newer(table: sa.Table) -> tuple[Any, Any]:
        return table.c.revision > since_revision, table.c.session_id != own_session

    objects = schema.objects
    shared = sa.select(objects.c.id).where(objects.c.site == site, objects.c.robot_id != own_robot)
    foreign = sa.or_(objects.c.session_id != own_session, objects.c.id.in_(shared))
    ids = sa.select(objects.c.id).where(objects.c.site == site, objects.c.revision > since_revision, foreign)
    beliefs = read_beliefs(connection, site, objects.c.id.in_(ids))
    found = read_map(connection, site, since_revision, own_session)
    dead = read_tombstones(connection, site, since_revision)
    forgotten = [object_id for object_id in known_ids if tombstone_of("object", object_id) in dead] if dead else []
    merged_away = [belief.object.id for belief in beliefs if belief.merged_into]
    return StoreChange(
        revision=revision,
        objects=tuple(belief.object for belief in beliefs if not belief.merged_into),
        gone=(*merged_away, *forgotten),
        forgotten=frozenset(dead),
        floors=tuple(found["floors"][0]),
        rooms=tuple(found["rooms"][0]),
        areas=tuple(found["areas"][0]),
        relations=tuple(found["relations"][0]),
        removed=tuple(Removed(record) for _, gone in found.values() for record in gone),
        episodes=tuple(read_episodes(connection, site, *newer(schema.episodes))),
        steps=tuple(read_steps(connection, site, *newer(schema.steps))),
        documents=tuple(read_documents(connection, site, *newer(schema.documents))),
    )
