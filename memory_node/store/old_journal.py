"""Facts that an earlier release left in a journal whose path named site and robot, but not the database."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.store import schema
from memory_node.store.apply import Applier, next_revision
from memory_node.store.copying import insert_rows
from memory_node.store.engine import for_writing
from memory_node.store.errors import StoreInUseError
from memory_node.store.journal import Journal
from memory_node.store.location import state_folder
from memory_node.store.records import Batch

_log = logging.getLogger(__name__)


def old_journal_path(site: str, robot_id: str) -> Path:
    """Return where earlier releases kept the journal of a robot with a server, whichever server that was."""
    return state_folder() / f"{site}-{robot_id}" / "store.pending"


def adopt_old_journal(engine: Engine, site: str, robot_id: str, session_id: str) -> str:
    """Bring into a database what waits for it in an old journal; return why something is left there, "" for nothing.

    A batch is this database's when that knows the sessions that wrote it: a program began only once it had noted its
    session there. session_id: of the program that runs now.

    Raises:
        sqlalchemy.exc.SQLAlchemyError, OSError: it cannot be now.
    """
    path = old_journal_path(site, robot_id)
    if not os.path.isfile(path):
        return ""
    journal = Journal(path, 1)
    try:
        journal.open()
        batches = list(journal.batches())
        own = _of_this_database(engine, site, robot_id, batches)
        _bring_in(engine, site, robot_id, session_id, own)
        if len(own) == len(batches):
            journal.clear()
            path.unlink()
            return ""
    except StoreInUseError as error:
        return str(error)
    finally:
        journal.close()
    left = (
        f"the journal {path} of an earlier release holds {len(batches) - len(own)} entries that were told to another "
        "database, site or robot and stay there; start that robot once with that database, or move the journal away"
    )
    _log.error(left)
    return left


def _of_this_database(engine: Engine, site: str, robot_id: str, batches: Sequence[Batch]) -> list[Batch]:
    sessions = schema.sessions
    query = sa.select(sessions.c.id).where(sessions.c.site == site, sessions.c.robot_id == robot_id)
    with engine.connect() as connection:
        known = set(connection.execute(query).scalars())
    origin = {(site, robot_id)}
    return [
        batch
        for batch in batches
        if {(row["site"], row["robot_id"]) for row in _rows(batch)} == origin
        and _sessions(batch)
        and _sessions(batch) <= known
    ]


def _rows(batch: Batch) -> Iterator[dict[str, Any]]:
    return (row for rows in batch.values() for row in rows.values())


def _sessions(batch: Batch) -> set[str]:
    return {row["session_id"] for row in _rows(batch) if "session_id" in row}


def _bring_in(engine: Engine, site: str, robot_id: str, session_id: str, batches: Sequence[Batch]) -> None:
    """Write batches; where the robot has worked with this database since, what it wrote later stays."""
    if not batches:
        return
    sessions = schema.sessions
    mine = (sessions.c.site == site, sessions.c.robot_id == robot_id, sessions.c.id != session_id)
    # Ids of sessions sort by time.
    newest = max(set().union(*map(_sessions, batches)))
    with for_writing(engine.connect()) as connection:
        later = connection.execute(sa.select(sessions.c.id).where(*mine, sessions.c.id > newest)).first()
        connection.commit()
        applier = Applier(site, robot_id, _tell_rejected)
        for batch in batches:
            if later is None:
                applier.apply(connection, batch)
            else:
                _add_missing(connection, site, batch)


def _add_missing(connection: Connection, site: str, batch: Batch) -> None:
    with connection.begin():
        revision = next_revision(connection, site)
        for table in schema.LOGGED:
            insert_rows(connection, site, table, batch.get(table.name, {}).values(), revision)


def _tell_rejected(table: str, key: tuple[Any, ...], error: Exception) -> None:
    _log.error("a record of an earlier release's journal was rejected: %s %s: %s", table, key, error)
