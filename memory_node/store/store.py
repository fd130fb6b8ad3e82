"""The store as the rest of the program sees it: append and wait, load, ask, forget."""

from __future__ import annotations

import logging
import socket
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.process import RepeatedWork
from memory_node.domain.scene import Area, Floor, Relation, Room, SceneSnapshot
from memory_node.store import reader
from memory_node.store.apply import tombstone_of
from memory_node.store.backup import BackupRotation, backup, backup_file
from memory_node.store.config import StoreConfig
from memory_node.store.engine import PATIENCE_S
from memory_node.store.errors import ForeignJournalError, StoreUnavailableError
from memory_node.store.feed import ChangeFeed
from memory_node.store.forget import forget
from memory_node.store.forget_plan import ForgetReport, ForgetRequest
from memory_node.store.journal import Journal
from memory_node.store.keeper import FileCare, LocalCopy, try_update
from memory_node.store.location import locate, parse_url, sqlite_path
from memory_node.store.reader import collect_again, without_collection
from memory_node.store.records import Batch, Document, Recordable, StoreChange
from memory_node.store.row_values import check_names
from memory_node.store.site_database import SiteDatabase
from memory_node.store.store_readings import StoreReadings
from memory_node.store.translate import Translator, WrittenMap
from memory_node.store.write_backlog import Ticket
from memory_node.store.writer import LogWriter, WriterDiagnostics

_log = logging.getLogger(__name__)
# Until the first look, which short runs end before, and between two (s).
_FILE_LOOKS_S = (30.0, 10.0)
_COPY_LOOKS_S = (1.0, 60.0)


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
        InvalidValueError: a name that no site or robot can have.
        StoreInUseError: another process writes as this robot, or another machine.
        ForeignJournalError: facts wait in its journal for another database.
        StoreVersionError, StoreSiteError: the database is newer than this program, or another site's.
        StoreError: an address that is no SQLite file and no PostgreSQL server.
    """
    robot_id = robot_id or socket.gethostname()
    check_names(robot=robot_id, **({"site": site} if site else {}))
    return Store(url_or_path, robot_id, site, config or StoreConfig(), clock)


class Store(StoreReadings):
    """One site's durable memory, written as one robot. Safe to use from several threads."""

    def __init__(self, url_or_path: str | Path, robot_id: str, site: str, config: StoreConfig, clock: Clock) -> None:
        database = SiteDatabase(parse_url(url_or_path), robot_id, site, config.busy_timeout_s, clock)
        super().__init__(database, clock)
        self.url = url = database.url
        self.session_id = database.session_id
        folders = locate(url, self.site, robot_id, config, database.identity)
        self._folders = folders
        self.crops = folders.crops
        self.derived = folders.derived
        self._translator = Translator(self.site, robot_id, self.session_id)
        self._journal = Journal(folders.journal, int(config.journal_mib * 2**20), database.identity)
        self._open_journal()
        self._feed = ChangeFeed(self._engine, self.site, config)
        self._writer = LogWriter(self._engine, self._translator, self._journal, config, self._on_commit)
        self._care: FileCare | None = None
        self._local: LocalCopy | None = None
        if (path := sqlite_path(url)) is not None:
            interval_s, folder = config.backup_interval_h * 3600.0, folders.backups
            rotation = BackupRotation(self._engine, self.site, folder, interval_s, config.backups_kept, clock)
            self._care = FileCare(path, rotation, lambda: self._writer.commits)
        else:
            self._local = LocalCopy(self.derived / "site.db", self.site, robot_id, clock)
        look, waits_s = (self._care.look, _FILE_LOOKS_S) if self._care else (self._update_copy, _COPY_LOOKS_S)
        # The writer reports a database in trouble.
        self._keeper = RepeatedWork("store-keeper", look, waits_s, (sqlite3.Error, OSError))
        self._map = WrittenMap()
        self.closed = False
        self._revision = -1
        self._writer.start(self._prepare_database, database.verify, reachable=database.prepared)
        self._feed.start()
        self._keeper.start()
        if not database.prepared and self._local is not None:
            had = "its copy of the site" if self._local.exists else "nothing of the site"
            _log.error("%s is away: memory starts with %s and its journal, the rest comes later", url.host, had)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing ------------------------------------------------------------------------------------------------------

    def append(self, records: Iterable[Recordable]) -> Ticket:
        """Take over facts in this order: scene events, steps, episodes, state changes, map records, documents.

        They are committed within 100 ms; `ticket.wait()` commits at once and returns when they are durable.

        Raises:
            StoreBacklogError: there is no room for them; nothing was taken over.
        """
        return self._writer.backlog.append(list(records))

    def put_map(
        self,
        areas: Sequence[Area] = (),
        rooms: Sequence[Room] = (),
        floors: Sequence[Floor] = (),
        relations: Sequence[Relation] = (),
    ) -> Ticket:
        """Make these the whole map: what changed since the last call is written, what is absent now is removed."""
        return self._map.replace([*floors, *rooms, *areas, *relations], self._writer.backlog.append)

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
        self._writer.backlog.flush(timeout_s)

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
        self._map.note([*scene.floors, *scene.rooms, *scene.areas, *scene.relations])
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
            self._writer.backlog.flush(1.0)
            if self._writer.diagnostics().state != "ok":
                raise StoreUnavailableError("own facts are still in the journal")
            own, known_ids = (self.robot_id, self.session_id), self._translator.known_ids()
            # The robot's own thread waits for this, with the lock of its memory.
            change, beliefs = self._read(
                lambda c, bad: reader.read_changes(c, self.site, self._revision, own, known_ids, bad, self._checks),
                PATIENCE_S,
            )
        except StoreUnavailableError:
            self._feed.signal()
            return None
        self._revision = change.revision
        self._feed.seen(change.revision)
        self._translator.forget(change.gone)
        self._translator.foreign_counts.update(reader.foreign_counts(beliefs, self.robot_id))
        return change or None

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
        """Return where a backup of this name lies; raises InvalidValueError, see backup.backup_file."""
        return backup_file(self._folders.data, name)

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
            if self._local is not None:
                try_update(self._local, self._engine)
            self._translator.forget(report.object_ids)
            self._writer.learn_dead()
        return report

    def diagnostics(self) -> WriterDiagnostics:
        """Return how the log does: back-pressure, outages, the journal's filling, commit times."""
        return self._writer.diagnostics()

    @property
    def log_bytes(self) -> int:
        """The size of SQLite's write-ahead log; 0 for a server."""
        return self._care.log_bytes if self._care is not None else 0

    @property
    def warning(self) -> str:
        """What a person should do something about although the store works; "" for nothing."""
        return self._care.warning if self._care is not None else ""

    def close(self, timeout_s: float = 10.0) -> None:
        """Make everything durable and let go of the database.

        Raises:
            StoreUnavailableError: something could not be made durable in time; it is lost.
        """
        self._feed.close()
        self._keeper.close()
        try:
            self._writer.close(timeout_s)
        finally:
            if self._local is not None:
                self._update_copy()
                self._local.close()
            self.closed = True
            self._engine.dispose()
            collect_again()

    def _prepare_database(self) -> None:
        self._database.prepare()
        self._journal.identity = self._database.identity

    def _settle(self, without: str) -> None:
        """Bring all that was appended into the database; the journal is not enough."""
        self.flush()
        self._require_database(without)

    def _require_database(self, without: str) -> None:
        state = self._writer.diagnostics().state
        if state != "ok":
            raise StoreUnavailableError(f"{without} now: facts wait in the journal ({state})")

    def _on_commit(self, revision: int, batch: Batch) -> None:
        self._feed.committed(revision)
        shared = self._translator.foreign_counts
        if shared and any(key[0] in shared for key in batch.get("objects", ())):
            self._feed.signal()

    def _in_outage(self) -> bool:
        return self._writer.diagnostics().state != "ok"

    def _local_engine(self) -> Engine | None:
        """Return what a server's site can be read from while it is away; None where nothing is known of it."""
        if self._local is None or not (self._local.exists or not self._database.prepared):
            return None
        batches = self._writer.waiting_batches()
        return self._local.engine(batches, len(batches))

    def _update_copy(self) -> None:
        if self._local is not None and not self._in_outage():
            try_update(self._local, self._engine)

    def _open_journal(self) -> None:
        """Open the journal; without it a database that cannot be written either leaves new facts in memory.

        Raises:
            StoreInUseError: another process writes as this robot.
            ForeignJournalError: it waits for another database.
            StoreUnavailableError: its place cannot be written, though the database can.
        """
        try:
            self._journal.open()
            self._journal.require_own()
        except ForeignJournalError:
            self._journal.close()
            raise
        except OSError as error:
            advice = "name a place that can be written with the parameter store.journal_path"
            if self._database.prepared:
                raise StoreUnavailableError(f"the journal cannot be written ({error}); {advice}") from error
            _log.error("the journal cannot be written either (%s), facts wait in memory; %s", error, advice)
