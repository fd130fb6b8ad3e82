"""The store as the rest of the program sees it: append and wait, load, ask, forget."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

from memory_node import __version__
from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.ids import new_id
from memory_node.domain.scene import Area, Floor, Relation, Room, SceneSnapshot
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import reader, schema
from memory_node.store.backup import backup
from memory_node.store.backup_names import backup_file
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import sealed
from memory_node.store.collection import collect_again, without_collection
from memory_node.store.config import StoreConfig
from memory_node.store.copying import insert_missing
from memory_node.store.engine import for_writing, open_engine, parse_url, reason_of, require_store, sqlite_path
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.feed import ChangeFeed
from memory_node.store.forget import forget
from memory_node.store.forget_plan import make_plan
from memory_node.store.forget_request import ForgetReport, ForgetRequest
from memory_node.store.journal import Journal
from memory_node.store.location import locate
from memory_node.store.quarantine import count_quarantined, put_away
from memory_node.store.reader import Found
from memory_node.store.records import Batch, Document, Recordable, Removed, StoreChange, StoreMark
from memory_node.store.rows import MapRecord
from memory_node.store.tombstones import read_tombstones, tombstone_of
from memory_node.store.translate import Translator
from memory_node.store.versioning import prepare, site_of
from memory_node.store.writer import LogWriter, Ticket, WriterDiagnostics

_log = logging.getLogger(__name__)


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
    return Store(url_or_path, robot_id or socket.gethostname(), site, config or StoreConfig(), clock)


class Store:
    """One site's durable memory, written as one robot. Safe to use from several threads."""

    def __init__(self, url_or_path: str | Path, robot_id: str, site: str, config: StoreConfig, clock: Clock) -> None:
        url = parse_url(url_or_path)
        self.url = url
        self.robot_id = robot_id
        self.session_id = new_id()
        self._clock = clock
        self._engine = open_engine(url, config.busy_timeout_s)
        self.site = site or "home"
        self._prepared = False
        _require_ours(url)
        # The inode of the SQLite file; 0 before it is opened, and for a server.
        self._file_number = 0
        try:
            self._prepare(site)
        except (sa.exc.OperationalError, OSError) as error:
            self._open_for_reading(site, error)
        folders = locate(url, self.site, robot_id, config)
        self._folders = folders
        self.images = folders.images
        self.derived = folders.derived
        self._translator = Translator(self.site, robot_id, self.session_id)
        self._journal = Journal(folders.journal, int(config.journal_mib * 2**20))
        self._open_journal()
        self._feed = ChangeFeed(self._engine, self.site, config)
        self._writer = LogWriter(self._engine, self._translator, self._journal, config, self._on_commit)
        self._map: dict[tuple[str, ...], MapRecord] = {}
        self.closed = False
        self._revision = -1
        # -1 until it is counted.
        self._quarantined = -1
        # Bad rows, by table and key, that could not be moved.
        self._left_in_place: set[tuple[str, str]] = set()
        self._judges: dict[str, reader.Judge] = {}
        self._map_lock = threading.Lock()
        self._writer.start(lambda: self._prepare(self.site), self._verify_file, reachable=self._prepared)
        self._feed.start()

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
        with without_collection():
            scene, beliefs = self._read(lambda c, bad: reader.read_scene(c, self.site, self._clock(), bad))
        foreign = reader.foreign_counts(beliefs, self.robot_id)
        self._revision = scene.version
        self._feed.seen(scene.version)
        self._translator.foreign_counts.update(foreign)
        for scene_object in scene.objects:
            if scene_object.id not in foreign:
                self._translator.known(scene_object)
        with self._map_lock:
            records: list[MapRecord] = [*scene.floors, *scene.rooms, *scene.areas, *scene.relations]
            self._map = {_map_key(record): record for record in records}
        return scene

    def poll_changes(self) -> StoreChange | None:
        """Return what others committed since load_scene() or the last call; None while there is nothing to be had.

        An object that other robots have seen too comes again after own facts about it: as the site now believes it.
        Take the objects over before the next append(): counts of later appends are understood as including them.
        """
        if not self._feed.take_signal():
            return None
        try:
            # What waits here must be in the database before the merge is read, or it would seem undone.
            self._writer.flush(1.0)
            if self._writer.diagnostics().state != "ok":
                raise StoreUnavailableError("own facts are still in the journal")
            own, known_ids = (self.robot_id, self.session_id), self._translator.known_ids()
            change, beliefs = self._read(
                lambda c, bad: reader.read_changes(c, self.site, self._revision, own, known_ids, bad, self._judges)
            )
        except StoreUnavailableError:
            self._feed.signal()
            return None
        self._revision = change.revision
        self._feed.seen(change.revision)
        self._translator.forget(change.gone)
        self._translator.foreign_counts.update(reader.foreign_counts(beliefs, self.robot_id))
        return change or None

    def steps(self, episode_id: str = "", since_ns: int = 0) -> Iterator[StepRecord]:
        """Yield steps by episode and index; all of them, or an episode's, or those from a stamp on."""
        conditions = [schema.steps.c.episode_id == episode_id] if episode_id else []
        conditions += [schema.steps.c.stamp_ns >= since_ns] if since_ns else []
        yield from self._read(lambda c, bad: list(reader.read_steps(c, self.site, bad, *conditions)))

    def all_steps(self) -> list[StepRecord]:
        """Return every step by episode and index; the fast way for a start that needs a million of them."""
        with without_collection():
            return self._read(lambda c, bad: list(reader.read_steps(c, self.site, bad)))

    def episodes(self) -> list[EpisodeSummary]:
        """Return all episodes by the time of their start."""
        return self._read(lambda c, bad: reader.read_episodes(c, self.site, bad))

    def newest_episodes(self, newest: int) -> list[EpisodeSummary]:
        """Return the last episodes of all robots by the time of their start."""
        return self._read(lambda c, bad: reader.read_episodes(c, self.site, bad, newest=newest))

    def own_episodes(self, newest: int) -> list[EpisodeSummary]:
        """Return the last episodes of this robot by the time of their start."""
        mine = schema.episodes.c.robot_id == self.robot_id
        return self._read(lambda c, bad: reader.read_episodes(c, self.site, bad, mine, newest=newest))

    def documents(self, kind: str) -> list[Document]:
        """Return the learned things of one kind."""
        of_kind = schema.documents.c.kind == kind
        found = self._read(lambda c, bad: reader.read_documents(c, self.site, bad, self._judges, of_kind))
        return [document for document in found if not document.removed]

    def bodies(self, kinds: Sequence[str], since_revision: int = -1) -> list[Document]:
        """Return the learned things of some kinds without their sources, those that changed after a revision.

        since_revision: -1 for all that are not given up; from 0 on those that were given up come, too.
        """
        columns = schema.documents.c
        # One condition that an index answers: with both, SQLite looks at all of the kinds.
        chosen = columns.revision > since_revision if since_revision >= 0 else columns.kind.in_(kinds)
        with without_collection():
            found = self._read(lambda c, bad: reader.read_bodies(c, self.site, bad, self._judges, chosen))
        return [one for one in found if one.kind in kinds and (since_revision >= 0 or not one.removed)]

    def count_documents(self, kinds: Sequence[str]) -> dict[str, int]:
        """Return by kind how many documents some robot holds and has not given up."""
        with reader.reading(self._engine) as connection:
            return reader.count_documents(connection, self.site, kinds)

    def forgotten_since(self, revision: int) -> frozenset[str]:
        """Return the digests of what was forgotten after a revision; see `tombstone_of`."""
        with reader.reading(self._engine) as connection:
            return frozenset(read_tombstones(connection, self.site, revision))

    def mark(self) -> StoreMark:
        """Return which state of the store its reader has.

        Raises:
            StoreUnavailableError: facts wait in the journal.
        """
        without = "nothing can be marked"
        # First, for in an outage nobody should wait for what then fails.
        self._require_database(without)
        self._settle(without)
        return StoreMark(self.site, self.session_id, self._feed.seen_revision)

    def is_past(self, mark: StoreMark) -> bool:
        """Return whether this store went on from a mark: not another one, and no older copy."""
        if mark.site != self.site or mark.revision < 0:
            return False
        with reader.reading(self._engine) as connection:
            newest = reader.revision_of(connection, self.site)
            return mark.revision <= newest and reader.has_session(connection, self.site, mark.session_id)

    def judge_documents(self, judges: Mapping[str, reader.Judge]) -> None:
        """Let the owners of learned things say, by kind, whether they can read a body: by an error if not."""
        self._judges = dict(judges)

    def is_forgotten(self, kind: str, record_id: str) -> bool:
        """Return whether a record was forgotten, as of the last commit; kinds as in `Document.sources`."""
        return tombstone_of(kind, record_id) in self._writer.dead

    def backup(self, target: Path) -> None:
        """Write a consistent copy of the site's memory, one SQLite file, while work goes on.

        Raises:
            StoreError: the target exists, the copy is damaged, or facts wait in the journal.
        """
        self._settle("no complete backup can be made")
        backup(self._engine, self.site, target, self._clock)

    def backup_file(self, name: str) -> Path:
        """Return where a backup of this name lies; raises InvalidValueError, see `backup_names`."""
        return backup_file(self._folders.data, name)

    def episodes_of(self, request: ForgetRequest) -> set[str]:
        """Return the ids of the episodes that forgetting this takes away."""
        with reader.reading(self._engine) as connection:
            return make_plan(connection, self.site, request).episodes

    def forget(self, request: ForgetRequest) -> ForgetReport:
        """Forget what is asked for, with all that only it supported, in the database, its backups and files.

        The caller drops `report.object_ids` from its own memory, and asks `is_forgotten` about the rest.

        Raises:
            NotFoundError: nothing fits the request.
            StoreUnavailableError: the database cannot be written or rewritten now.
        """
        self._settle("nothing can be forgotten")
        with self._writer.paused():
            report = forget(self._engine, self.site, request, self.robot_id, self._folders, self._clock)
            self._translator.forget(report.object_ids)
            self._writer.learn_dead()
        return report

    @property
    def quarantined(self) -> int:
        """How many rows were left out because they cannot be read, as of the last read."""
        return max(self._quarantined, 0) + len(self._left_in_place)

    def diagnostics(self) -> WriterDiagnostics:
        """Return how the log does: back-pressure, outages, the journal's filling, commit times."""
        return self._writer.diagnostics()

    def close(self, timeout_s: float = 10.0) -> None:
        """Make everything durable and let go of the database.

        Raises:
            StoreUnavailableError: something could not be made durable in time; it is lost.
        """
        self._feed.close()
        try:
            self._writer.close(timeout_s)
        finally:
            self.closed = True
            self._engine.dispose()
            collect_again()

    def _settle(self, without: str) -> None:
        """Bring all that was appended into the database; the journal is not enough."""
        self.flush()
        self._require_database(without)

    def _require_database(self, without: str) -> None:
        state = self._writer.diagnostics().state
        if state != "ok":
            raise StoreUnavailableError(f"{without} now: facts wait in the journal ({state})")

    def _read(self, read: Callable[[Connection, BadRows], Found]) -> Found:
        """Return what is read; rows that cannot be go to the quarantine, which is counted."""
        found, bad = reader.read_leniently(self._engine, read)
        if bad or self._quarantined < 0:
            names = {(row.table.name, str(row.key)) for row in bad}
            if bad and put_away(self._engine, self.site, bad, self._clock):
                self._left_in_place -= names
            else:
                self._left_in_place |= names
            with reader.reading(self._engine) as connection:
                self._quarantined = count_quarantined(connection, self.site)
        return found

    def _on_commit(self, revision: int, batch: Batch) -> None:
        self._feed.committed(revision)
        shared = self._translator.foreign_counts
        if shared and any(key[0] in shared for key in batch.get("objects", ())):
            self._feed.signal()

    def _prepare(self, site: str) -> None:
        """Make the tables ready and note this session, once the database can be reached."""
        if self._prepared:
            return
        path = sqlite_path(self.url)
        if path is not None and self._file_number and not path.exists():
            # A new and empty memory in its place would hide the loss.
            raise FileNotFoundError(f"{path} was removed; bring it back, or a backup of it, to the same place")
        # Connections that were opened while it could only be read would stay so.
        self._engine.dispose()
        self.site = prepare(self._engine, site, self._clock)
        row = {"id": self.session_id, "robot_id": self.robot_id, "started_ns": self._clock(), "program": __version__}
        with for_writing(self._engine.connect()) as connection, connection.begin():
            row["site"] = self.site
            connection.execute(insert_missing(connection, schema.sessions), sealed(schema.sessions, row))
        self._file_number = path.stat().st_ino if path is not None else 0
        self._prepared = True

    def _open_for_reading(self, site: str, trouble: Exception) -> None:
        """Go on with a SQLite file that can only be read; a server that is away is waited for.

        Raises:
            StoreUnavailableError: the file cannot be read either.
        """
        path = sqlite_path(self.url)
        if path is None:
            return
        try:
            self.site = site_of(self._engine, site)
        except (sa.exc.SQLAlchemyError, OSError):
            raise StoreUnavailableError(f"{path} cannot be opened: {reason_of(trouble)}") from trouble
        _log.error("%s can only be read (%s); what is new waits until it can be written", path, reason_of(trouble))

    def _open_journal(self) -> None:
        """Open the journal; without it a database that cannot be written either leaves new facts in memory.

        Raises:
            StoreInUseError: another process writes as this robot.
            StoreUnavailableError: its place cannot be written, though the database can.
        """
        try:
            self._journal.open()
        except OSError as error:
            advice = "name a place that can be written with the parameter store.journal_path"
            if self._prepared:
                raise StoreUnavailableError(f"the journal cannot be written ({error}); {advice}") from error
            _log.error("the journal cannot be written either (%s), facts wait in memory; %s", error, advice)

    def _verify_file(self) -> None:
        """Raise OSError when the SQLite file is no longer the one that is open: its writes would go nowhere."""
        path = sqlite_path(self.url)
        if path is None:
            return
        try:
            same = path.stat().st_ino == self._file_number
        except FileNotFoundError:
            same = False
        if not same:
            self._prepared = False
            self._engine.dispose()
            raise OSError(f"{path} was removed or replaced while it was in use")


def _require_ours(url: URL) -> None:
    """Refuse a file of somebody else; one without bytes is a new store."""
    path = sqlite_path(url)
    if path is not None and path.is_file() and path.stat().st_size:
        require_store(path)


def _map_key(record: MapRecord) -> tuple[str, ...]:
    if isinstance(record, Relation):
        return "Relation", record.source_id, record.kind.value, record.target_id
    return type(record).__name__, record.id
