"""The database of a site as a robot opens it: checked to be ours, its tables made ready, still the same file later."""

from __future__ import annotations

import hashlib
import json
import logging
import socket
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from memory_node import __version__
from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import StoreError
from memory_node.domain.ids import new_id
from memory_node.domain.resources import create_private
from memory_node.store import schema
from memory_node.store.apply import add_rows
from memory_node.store.checksums import sealed
from memory_node.store.engine import APPLICATION_ID, for_writing, is_ours, open_engine, reason_of, require_store
from memory_node.store.errors import (
    ForeignJournalError,
    StoreInUseError,
    StoreSiteError,
    StoreUnavailableError,
    StoreVersionError,
)
from memory_node.store.location import known_identity, note_identity, sqlite_path, state_folder
from memory_node.store.records import Row
from memory_node.store.row_values import check_names
from memory_node.store.schema import SCHEMA_VERSION, metadata, sites

_MIGRATIONS = Path(__file__).parent / "migrations"


def schema_version(connection: Connection) -> str | None:
    """Return the schema version of a database, None for an empty one.

    Raises:
        StoreVersionError: it holds tables, but none of ours.
    """
    tables = set(sa.inspect(connection).get_table_names())
    if "alembic_version" in tables:
        return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    if connection.dialect.name == "sqlite" and tables:
        raise StoreVersionError("this SQLite file holds tables of another program; give another path")
    return None


def prepare(engine: Engine, site: str, clock: Clock = system_clock) -> str:
    """Create or migrate the tables and the site's row; return the site's name.

    site: "" asks for a SQLite file's own, else "home".

    Raises:
        StoreVersionError: the database is newer than this program.
        StoreSiteError: a SQLite file of another site.
    """
    if site:
        check_names(site=site)
    path = sqlite_path(engine.url)
    # A path that was mistyped may name a file of somebody else, which keeps its rights.
    if path is not None and (not path.exists() or is_ours(path)):
        create_private(path)
    with for_writing(engine.connect()) as connection, connection.begin():
        _make_tables(connection)
        return _enter_site(connection, site, clock)


def make_tables(engine: Engine) -> None:
    """Create or migrate a server's tables.

    Raises:
        StoreVersionError: the database is newer than this program.
    """
    with for_writing(engine.connect()) as connection, connection.begin():
        _make_tables(connection)


def _make_tables(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        # Two robots that start at once must not both create the tables.
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": APPLICATION_ID})
    version = schema_version(connection)
    if version is None:
        create_tables(connection)
    elif version != SCHEMA_VERSION:
        migrate(connection, version)


def identity_of(connection: Connection, site: str) -> str:
    """Return the identity that a database keeps of a site."""
    return str(connection.execute(sa.select(sites.c.identity).where(sites.c.name == site)).scalar_one())


def site_of(engine: Engine, site: str) -> str:
    """Return the site's name in a database that can only be read now; site: "" asks for a SQLite file's own.

    Raises:
        StoreUnavailableError: nothing is in it yet.
        StoreVersionError: its schema is another than this program's.
        StoreSiteError: a SQLite file of another site.
    """
    is_file = sqlite_path(engine.url) is not None
    with engine.connect() as connection, connection.begin():
        version = schema_version(connection)
        if version is None:
            raise StoreUnavailableError(
                "there is no memory in this file yet, and it cannot be written"
                if is_file
                else "this database holds no memory yet: start a robot with it, restore a backup into it, or run "
                "`memory-node store distribute`"
            )
        if version != SCHEMA_VERSION:
            raise StoreVersionError(
                f"the store has schema {version}, this program {SCHEMA_VERSION}, and it cannot be migrated "
                "while it cannot be written"
            )
        present = list(connection.execute(sa.select(sites.c.name).order_by(sites.c.name)).scalars())
    name = site or (present[0] if is_file else "home")
    if name not in present:
        held = ", ".join(present) or "none yet"
        raise StoreSiteError(
            f"this file is the memory of {held}, not of {name!r}; give another path"
            if is_file
            else f"the database has no site {name!r}; it has {held} (--site names one)"
        )
    return name


def create_tables(connection: Connection) -> None:
    """Make the tables of this program's schema in an empty database."""
    metadata.create_all(connection)
    connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    connection.execute(sa.text("INSERT INTO alembic_version VALUES (:version)"), {"version": SCHEMA_VERSION})
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version = {int(SCHEMA_VERSION)}")


def migrate(connection: Connection, version: str) -> None:
    """Bring an older schema up to this program's, within the caller's transaction.

    Raises:
        StoreVersionError: the schema is newer than this program, or unknown to it.
    """
    # Imported here because a restart, which seldom migrates, should not wait for it.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version not in known:
        raise StoreVersionError(
            f"the store has schema {version}, this program knows up to {SCHEMA_VERSION}; "
            "install a newer robot_memory, or restore a backup that this one made"
        )
    config.attributes["connection"] = connection
    if connection.dialect.name == "postgresql":
        # On Citus rows may be changed in the transaction that changes their table. Elsewhere nobody reads it.
        connection.execute(sa.text("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"))
    command.upgrade(config, "head")
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA user_version = {int(SCHEMA_VERSION)}")


def _enter_site(connection: Connection, site: str, clock: Clock) -> str:
    present = list(connection.execute(sa.select(sites.c.name).order_by(sites.c.name)).scalars())
    if not site and len(present) == 1 and connection.dialect.name == "sqlite":
        return present[0]
    name = site or "home"
    if name in present:
        return name
    if present and connection.dialect.name == "sqlite":
        raise StoreSiteError(f"this file is the memory of site {present[0]!r}, not of {name!r}; give another path")
    connection.execute(sites.insert(), new_site(name, clock))
    return name


def new_site(name: str, clock: Clock, identity: str = "") -> Row:
    """Return the row of a site that is empty; identity: of the site that it continues."""
    row = {"name": name, "revision": 0, "revision_check": 0, "created_ns": clock(), "identity": identity or new_id()}
    return sealed(sites, row)


_FILE = "installation.json"
_NETWORKS = Path("/sys/class/net")


def installation_id() -> str:
    """Return the id of this machine's installation, made at the first call; "" where it cannot be kept.

    A copy of the disk in another machine gets an id of its own: that has none of the network adapters seen so far.
    """
    note = state_folder() / _FILE
    try:
        present = set(_adapters())
        found = json.loads(note.read_text()) if note.is_file() else {}
        known = set(found.get("adapters", ()))
        is_copy = bool(known and present and not known & present)
        made = found["id"] if found.get("id") and not is_copy else new_id()
        adapters = sorted(present if is_copy else known | present)
        if (made, adapters) != (found.get("id"), found.get("adapters")):
            create_private(note)
            note.write_text(json.dumps({"id": made, "adapters": adapters}))
    except (OSError, ValueError, AttributeError, TypeError):
        return ""
    return str(made)


def _adapters() -> list[str]:
    """Return digests of the physical network adapters' addresses; none in a container."""
    addresses = (one.read_bytes() for one in _NETWORKS.glob("*/address") if (one.parent / "device").exists())
    return [hashlib.sha256(address.strip()).hexdigest()[:32] for address in addresses]


def require_own_robot(connection: Connection, site: str, robot_id: str, installation: str) -> None:
    """Look whether a robot's last program ran on this machine.

    Raises:
        StoreInUseError: it ran on another one.
    """
    sessions = schema.sessions
    query = sa.select(sessions).where(sessions.c.site == site, sessions.c.robot_id == robot_id)
    last = connection.execute(query.order_by(sessions.c.started_ns.desc(), sessions.c.id.desc()).limit(1)).first()
    if last is None or "" in (last.installation, installation) or last.installation == installation:
        return
    raise StoreInUseError(
        f"robot {robot_id!r} of site {site!r} is another machine (its name is {last.host!r}): two that write as one "
        "overwrite each other's memory. Give this machine a robot_id of its own, or, if it replaces the other one, run "
        f"`memory-node store take-over --robot {robot_id}`"
    )


_log = logging.getLogger(__name__)


def note_session(connection: Connection, site: str, robot_id: str, session_id: str, stamp_ns: int) -> None:
    """Note that a robot's program begins on this machine."""
    row = {"id": session_id, "robot_id": robot_id, "started_ns": stamp_ns, "program": __version__, "site": site}
    row |= {"installation": installation_id(), "host": socket.gethostname()}
    add_rows(connection, schema.sessions, [sealed(schema.sessions, row)])


class SiteDatabase:
    """A SQLite file or a PostgreSQL server that holds a site.

    What cannot be written now, or reached, is opened all the same: `prepare` makes it ready as soon as it can be.

    Args:
        url: where it is.
        robot_id: who writes.
        site: "" for the file's own, else "home".
        busy_timeout_s: how long SQLite waits for another process that writes.

    Raises:
        StoreVersionError, StoreSiteError: the database is newer than this program, or another site's.
        StoreError: the role of the address may not use the site.
        StoreUnavailableError: a file that can be neither written nor read.
    """

    def __init__(self, url: URL, robot_id: str, site: str, busy_timeout_s: float, clock: Clock) -> None:
        self.url = url
        self.robot_id = robot_id
        self.session_id = new_id()
        self.site = site or "home"
        self.prepared = False
        # Of the site in this database; "" before it is known.
        self.identity = ""
        self._clock = clock
        self._path = sqlite_path(url)
        # The inode of the SQLite file; 0 before it is opened, and for a server.
        self._file_number = 0
        self.engine = open_engine(url, busy_timeout_s)
        # A file without bytes is a new store.
        if self._path is not None and self._path.is_file() and self._path.stat().st_size:
            require_store(self._path)
        try:
            self._prepare(site)
        except (sa.exc.OperationalError, OSError) as error:
            self._open_for_reading(site, error)
        except sa.exc.ProgrammingError as error:
            raise StoreError(
                f"the database does not let its role use site {site or 'home'!r} ({reason_of(error)}); its owner can "
                "allow it: `memory-node store distribute --rls --grant ROLE SITE`"
            ) from error

    def prepare(self) -> None:
        """Make the tables ready and note this session, once the database can be reached.

        Raises:
            ForeignJournalError: another database lies at the address now.
            OSError, sqlalchemy.exc.SQLAlchemyError: it cannot be now.
        """
        if self.identity and self._path is None:
            self._require_same()
        self._prepare(self.site)

    def verify(self) -> None:
        """Raise OSError when the SQLite file is no longer the one that is open: its writes would go nowhere."""
        if self._path is None:
            return
        try:
            same = self._path.stat().st_ino == self._file_number
        except FileNotFoundError:
            same = False
        if not same:
            self.prepared = False
            self.engine.dispose()
            raise OSError(f"{self._path} was removed or replaced while it was in use")

    def _prepare(self, site: str) -> None:
        if self.prepared:
            return
        path = self._path
        if path is not None and self._file_number and not path.exists():
            # A new and empty memory in its place would hide the loss.
            raise FileNotFoundError(f"{path} was removed; bring it back, or a backup of it, to the same place")
        # Connections that were opened while it could only be read would stay so.
        self.engine.dispose()
        self.site = prepare(self.engine, site, self._clock)
        self._recognise()
        with for_writing(self.engine.connect()) as connection, connection.begin():
            if path is None:
                require_own_robot(connection, self.site, self.robot_id, installation_id())
            note_session(connection, self.site, self.robot_id, self.session_id, self._clock())
        self._file_number = path.stat().st_ino if path is not None else 0
        self.prepared = True

    def _recognise(self) -> None:
        """Note which database this is.

        Raises:
            ForeignJournalError: it is another one than before.
        """
        with self.engine.connect() as connection:
            identity = identity_of(connection, self.site)
        if self.identity and identity != self.identity:
            raise self._foreign()
        self.identity = identity
        try:
            note_identity(self.url, self.site, self.robot_id, identity)
        except OSError as error:
            _log.error("which database lies at the address cannot be noted: %s", error)

    def _require_same(self) -> None:
        """Look, before anything is written to it, whether a server's database is the one that was met before."""
        with self.engine.connect() as connection:
            try:
                same = identity_of(connection, self.site) == self.identity
            except (sa.exc.ProgrammingError, sa.exc.NoResultFound):
                same = False
        if not same:
            raise self._foreign()

    def _foreign(self) -> ForeignJournalError:
        return ForeignJournalError(
            f"another database lies at {self.url.render_as_string()} now than this robot worked with; "
            "it gets nothing; start the robot again to work with it"
        )

    def _open_for_reading(self, site: str, trouble: Exception) -> None:
        """Go on with a SQLite file that can only be read; a server that is away is waited for."""
        if self._path is None:
            self.identity = known_identity(self.url, self.site, self.robot_id)
            return
        try:
            self.site = site_of(self.engine, site)
        except (sa.exc.SQLAlchemyError, OSError):
            raise StoreUnavailableError(f"{self._path} cannot be opened: {reason_of(trouble)}") from trouble
        why = reason_of(trouble)
        _log.error("%s can only be read (%s); what is new waits until it can be written", self._path, why)
