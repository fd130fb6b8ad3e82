"""Brings a database to this program's schema, and refuses one that a newer program made."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.ids import new_id
from memory_node.domain.resources import create_private
from memory_node.store.address import sqlite_path
from memory_node.store.checksums import sealed
from memory_node.store.engine import APPLICATION_ID, for_writing, is_ours
from memory_node.store.errors import StoreSiteError, StoreUnavailableError, StoreVersionError
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
    with engine.connect() as connection, connection.begin():
        version = schema_version(connection)
        if version is None and sqlite_path(engine.url) is None:
            raise StoreUnavailableError(
                "this database holds no memory yet: start a robot with it, restore a backup into it, or run "
                "`memory-node store distribute`"
            )
        if version is None:
            raise StoreUnavailableError("there is no memory in this file yet, and it cannot be written")
        if version != SCHEMA_VERSION:
            raise StoreVersionError(
                f"the store has schema {version}, this program {SCHEMA_VERSION}, and it cannot be migrated "
                "while it cannot be written"
            )
        present = list(connection.execute(sa.select(sites.c.name).order_by(sites.c.name)).scalars())
    if sqlite_path(engine.url) is None:
        return _site_of_server(site, present)
    if site and site not in present:
        raise StoreSiteError(f"this file is the memory of {', '.join(present)}, not of {site!r}; give another path")
    return site or present[0]


def _site_of_server(site: str, present: list[str]) -> str:
    name = site or "home"
    if name not in present:
        raise StoreSiteError(
            f"the database has no site {name!r}; it has {', '.join(present) or 'none yet'} (--site names one)"
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
