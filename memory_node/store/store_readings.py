"""What is read out of a store: steps, episodes, learned things, what was forgotten."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError

from memory_node.domain.clock import Clock
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import reader, schema
from memory_node.store.bad_rows import BadRow, BadRows
from memory_node.store.engine import SILENT
from memory_node.store.errors import DamagedTextError, StoreUnavailableError
from memory_node.store.forget_plan import ForgetPlan, ForgetRequest
from memory_node.store.reader import Found, without_collection
from memory_node.store.records import Document
from memory_node.store.site_database import SiteDatabase

_log = logging.getLogger(__name__)
# A server that says nothing for so long while much is read is away (s).
_QUIET_LIMIT_S = 10.0


class StoreReadings:
    """The questions that a store answers from its database. Rows that cannot be read are left out."""

    def __init__(self, database: SiteDatabase, clock: Clock) -> None:
        self._database = database
        self._engine = database.engine
        self._clock = clock
        # Those that were left out of a read so far.
        self._bad: set[BadRow] = set()
        self._checks: dict[str, reader.BodyCheck] = {}

    @property
    def site(self) -> str:
        """The site whose memory this is."""
        return self._database.site

    @property
    def robot_id(self) -> str:
        """The robot that writes here."""
        return self._database.robot_id

    def steps(self, episode_id: str = "") -> list[StepRecord]:
        """Return the steps of an episode, or all of them, by episode and index; a start needs a million of them."""
        chosen = [schema.steps.c.episode_id == episode_id] if episode_id else []
        with nullcontext() if episode_id else without_collection():
            return self._read(lambda c, bad: list(reader.read_steps(c, self.site, bad, *chosen)))

    def episodes(self, newest: int = 0, own: bool = False) -> list[EpisodeSummary]:
        """Return episodes by the time of their start; newest: the last ones, 0 for all; own: this robot's alone."""
        chosen = [schema.episodes.c.robot_id == self.robot_id] if own else []
        return self._read(lambda c, bad: reader.read_episodes(c, self.site, bad, *chosen, newest=newest))

    def documents(self, kind: str) -> list[Document]:
        """Return the learned things of one kind."""
        of_kind = schema.documents.c.kind == kind
        found = self._read(lambda c, bad: reader.read_documents(c, self.site, bad, self._checks, of_kind))
        return [document for document in found if not document.removed]

    def bodies(self, kinds: Sequence[str]) -> list[Document]:
        """Return the learned things of some kinds without their sources."""
        chosen = schema.documents.c.kind.in_(kinds)
        with without_collection():
            found = self._read(lambda c, bad: reader.read_bodies(c, self.site, bad, self._checks, chosen))
        return [one for one in found if not one.removed]

    def episodes_of(self, request: ForgetRequest) -> set[str]:
        """Return the ids of the episodes that forgetting this takes away."""
        return self._ask(lambda connection: ForgetPlan(connection, self.site, request).episodes)

    def check_bodies(self, checks: Mapping[str, reader.BodyCheck]) -> None:
        """Check each document's body on reading, by kind; a check raises an error if the owner cannot read the body."""
        self._checks = dict(checks)

    @property
    def bad_rows(self) -> int:
        """How many rows were left out so far because they cannot be read."""
        return len(self._bad)

    def _in_outage(self) -> bool:
        """Whether the database takes nothing now."""
        return False

    def _local_engine(self) -> Engine | None:
        """Return what is read instead while a server is away; None for nothing."""
        return None

    def _from_server_or_local(self, read: Callable[[Engine], Found]) -> Found:
        """Return what is read from the database, or while it is away from what is local."""
        if not self._in_outage():
            try:
                return self._from_server(read)
            except DamagedTextError:
                raise
            except StoreUnavailableError:
                if (local := self._local_engine()) is None:
                    raise
                return read(local)
        return read(self._local_engine() or self._engine)

    def _from_server(self, read: Callable[[Engine], Found]) -> Found:
        """Return what is read from the database: by a new connection where one that waited idle had been cut."""
        try:
            return read(self._engine)
        except StoreUnavailableError as error:
            cut = isinstance(error.__cause__, DBAPIError) and error.__cause__.connection_invalidated
            if not cut or SILENT in str(error):
                raise
            return read(self._engine)

    def _ask(self, question: Callable[[Connection], Found]) -> Found:
        def ask(engine: Engine) -> Found:
            with reader.reading(engine, quiet_limit_s=_QUIET_LIMIT_S) as connection:
                return question(connection)

        return self._from_server_or_local(ask)

    def _read(self, read: Callable[[Connection, BadRows], Found], quiet_limit_s: float = _QUIET_LIMIT_S) -> Found:
        """Return what is read, without the rows that cannot be."""
        found, bad = self._from_server_or_local(lambda engine: reader.read_leniently(engine, read, quiet_limit_s))
        for row in set(bad) - self._bad:
            _log.error("a row cannot be read and is left out: %s", row)
        self._bad.update(bad)
        return found
