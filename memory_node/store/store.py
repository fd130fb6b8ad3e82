"""The store as the rest of the program sees it: append and wait, load, ask, forget."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sa

from memory_node import __version__
from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import new_id
from memory_node.domain.scene import Area, Floor, Place, Relation, Room, SceneSnapshot
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import reader, schema
from memory_node.store.config import StoreConfig, load_config
from memory_node.store.engine import for_writing, open_engine, parse_url, sqlite_path
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.journal import Journal
from memory_node.store.records import Document, Recordable, Removed
from memory_node.store.rows import MapRecord
from memory_node.store.translate import Translator
from memory_node.store.versioning import prepare
from memory_node.store.writer import LogWriter, Ticket, WriterDiagnostics


def _state_folder() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "robot_memory"


def open_store(
    url_or_path: str | Path,
    robot_id: str = "",
    site: str = "",
    config: StoreConfig | None = None,
    clock: Clock = system_clock,
) -> Store:
    """Open a store, creating or migrating its tables, and bring what its journal kept into it.

    robot_id: default, the host's name; site: default, the file's, else "home". A server that cannot be reached now
    does not hinder: new facts go to the journal until it can.

    Raises:
        StoreInUseError: another process writes as this robot.
        StoreVersionError, StoreSiteError: the database is newer than this program, or another site's.
        StoreError: an address that is no SQLite file and no PostgreSQL server.
    """
    return Store(url_or_path, robot_id or socket.gethostname(), site, config or load_config(), clock)


class Store:
    """One site's durable memory, written as one robot. Safe to use from several threads."""

    def __init__(self, url_or_path: str | Path, robot_id: str, site: str, config: StoreConfig, clock: Clock) -> None:
        url = parse_url(url_or_path)
        self.url = url
        self.robot_id = robot_id
        self.session_id = new_id()
        self._clock = clock
        self._engine = open_engine(url, config.busy_timeout_s)
        path = sqlite_path(url)
        try:
            self.site = prepare(self._engine, site, clock)
        except sa.exc.OperationalError as error:
            if path is not None:
                raise StoreUnavailableError(f"{path} cannot be opened: {error.orig}") from error
            self.site = site or "home"
        folder = _state_folder() / f"{self.site}-{robot_id}" if path is None else path.parent
        stem = "store" if path is None else path.name
        self.data_dir = Path(config.data_dir) if config.data_dir else folder / f"{stem}.data"
        journal_path = Path(config.journal_path) if config.journal_path else folder / f"{stem}.pending"
        self._translator = Translator(self.site, robot_id, self.session_id)
        self._journal = Journal(journal_path, int(config.journal_mib * 2**20))
        self._writer = LogWriter(self._engine, self._translator, self._journal, config)
        self._map: dict[tuple[str, ...], MapRecord] = {}
        self.closed = False
        self._map_lock = threading.Lock()
        self._enter_session()
        self._writer.start()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- writing ------------------------------------------------------------------------------------------------------

    def append(self, records: Iterable[Recordable]) -> Ticket:
        """Take over facts in this order: scene events, steps, episodes, state changes, map records, documents.

        They are committed within 100 ms; `ticket.wait()` commits at once and returns when they are durable.

        Raises:
            StoreBacklogError: there is no room for them; nothing was taken over.
        """
        return self._writer.append(list(records))

    def put_map(
        self,
        areas: Sequence[Area] = (),
        rooms: Sequence[Room] = (),
        floors: Sequence[Floor] = (),
        relations: Sequence[Relation] = (),
    ) -> Ticket:
        """Make these the whole map: what changed since the last call is written, what is absent now is removed."""
        records: list[MapRecord] = [*floors, *rooms, *areas, *relations]
        wanted = {_map_key(record): record for record in records}
        with self._map_lock:
            changed: list[Recordable] = [record for key, record in wanted.items() if self._map.get(key) != record]
            gone = [Removed(record) for key, record in self._map.items() if key not in wanted]
            ticket = self._writer.append([*changed, *gone])
            self._map = wanted
        return ticket

    def put_documents(
        self, kind: str, documents: Iterable[tuple[str, Mapping[str, Any], Sequence[tuple[str, str]]]]
    ) -> Ticket:
        """Write learned things of one kind, each (id, body, sources); sources as in `Document`."""
        stamp_ns = self._clock()
        return self.append(Document(kind, id_, body, stamp_ns, tuple(sources)) for id_, body, sources in documents)

    def remove_documents(self, kind: str, ids: Iterable[str]) -> Ticket:
        """Give learned things up; their content is overwritten."""
        stamp_ns = self._clock()
        return self.append(Document(kind, id_, {}, stamp_ns, removed=True) for id_ in ids)

    def flush(self, timeout_s: float = 5.0) -> None:
        """Return once everything that was appended so far is durable.

        Raises:
            StoreUnavailableError: it is not within `timeout_s`.
        """
        self._writer.flush(timeout_s)

    # -- reading ------------------------------------------------------------------------------------------------------

    def load_scene(self) -> SceneSnapshot:
        """Return the site's scene graph, merged over its robots; `version` is the site's revision.

        Raises:
            StoreUnavailableError: the database cannot be read now.
        """
        with reader.reading(self._engine) as connection:
            revision = reader.revision_of(connection, self.site)
            beliefs = reader.read_beliefs(connection, self.site)
            found = reader.read_map(connection, self.site)
            foreign = reader.read_own_counts(connection, self.site, self.robot_id)
        objects = tuple(belief.object for belief in beliefs if not belief.merged_into)
        self._translator.foreign_counts.update(foreign)
        for scene_object in objects:
            if scene_object.id not in foreign:
                self._translator.known(scene_object)
        floors, rooms, areas, relations = (tuple(found[name][0]) for name in reader.MAP_TABLES)
        with self._map_lock:
            self._map = {_map_key(record): record for record in (*floors, *rooms, *areas, *relations)}
        return SceneSnapshot(self._clock(), floors, rooms, areas, objects, relations, version=revision)

    def object_history(self, object_id: str, as_of_ns: int = 0) -> tuple[Place, ...]:
        """Return where an object was, oldest first; as_of_ns > 0 leaves out what began later.

        Raises:
            NotFoundError: no object has this id.
        """
        with reader.reading(self._engine) as connection:
            beliefs = reader.read_beliefs(connection, self.site, schema.objects.c.id == object_id)
        if not beliefs:
            raise NotFoundError(f"no object {object_id} is in the store")
        history = beliefs[0].object.history
        return tuple(place for place in history if not as_of_ns or place.since_ns <= as_of_ns)

    def steps(self, episode_id: str = "", since_ns: int = 0) -> Iterator[StepRecord]:
        """Yield steps by episode and index; all of them, or an episode's, or those from a stamp on."""
        conditions = [schema.steps.c.episode_id == episode_id] if episode_id else []
        conditions += [schema.steps.c.stamp_ns >= since_ns] if since_ns else []
        with reader.reading(self._engine) as connection:
            yield from reader.read_steps(connection, self.site, *conditions)

    def all_steps(self) -> list[StepRecord]:
        """Return every step by episode and index; the fast way for a start that needs a million of them."""
        with reader.reading(self._engine) as connection, reader.without_collection():
            return list(reader.read_steps(connection, self.site))

    def episodes(self) -> list[EpisodeSummary]:
        """Return all episodes by the time of their start."""
        with reader.reading(self._engine) as connection:
            return reader.read_episodes(connection, self.site)

    def documents(self, kind: str) -> list[Document]:
        """Return the learned things of one kind."""
        with reader.reading(self._engine) as connection:
            found = reader.read_documents(connection, self.site, schema.documents.c.kind == kind)
        return [document for document in found if not document.removed]

    def diagnostics(self) -> WriterDiagnostics:
        """Return how the log does: back-pressure, outages, the journal's filling, commit times."""
        return self._writer.diagnostics()

    def close(self, timeout_s: float = 10.0) -> None:
        """Make everything durable and let go of the database.

        Raises:
            StoreUnavailableError: something could not be made durable in time; it is lost.
        """
        try:
            self._writer.close(timeout_s)
        finally:
            self.closed = True
            self._engine.dispose()

    def _enter_session(self) -> None:
        row = {"id": self.session_id, "robot_id": self.robot_id, "started_ns": self._clock(), "program": __version__}
        try:
            with for_writing(self._engine.connect()) as connection, connection.begin():
                connection.execute(schema.sessions.insert().values(site=self.site, **row))
        except sa.exc.OperationalError:
            # A database that takes nothing now: the writer finds out and says so.
            return


def _map_key(record: MapRecord) -> tuple[str, ...]:
    if isinstance(record, Relation):
        return "Relation", record.source_id, record.kind.value, record.target_id
    return type(record).__name__, record.id
