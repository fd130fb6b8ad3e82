"""Lets each role of a server see its own sites only, by PostgreSQL's row-level security."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.errors import StoreError
from memory_node.store import schema
from memory_node.store.row_values import check_names
from memory_node.store.site_database import make_tables

# Facts of the whole fleet, which every robot may read.
FLEET_SITE = "fleet"
_VERSION_TABLE = "alembic_version"
# Of a role; a longer name of a site stands as a digest in it.
_LONGEST_SITE_BYTES = 55
_MAY_SEE = """
CREATE OR REPLACE FUNCTION robot_memory_may_see(site text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN to_regrole(quote_ident(name)) IS NULL THEN false
                ELSE pg_has_role(current_user, to_regrole(quote_ident(name)), 'MEMBER') END
    FROM (SELECT 'rm:' || CASE WHEN octet_length(site) <= {longest} THEN site ELSE md5(site) END AS name) AS role
$$
"""


def separate_sites(engine: Engine, grants: Sequence[tuple[str, str]]) -> list[str]:
    """Let each role read and write only the sites that it was granted, and read `FLEET_SITE`; again does nothing.

    grants: (login role, site). The owner of the tables and superusers see everything.

    Raises:
        StoreError: the tables belong to somebody else.
    """
    make_tables(engine)
    done = [f"each role sees its own sites only, and reads {FLEET_SITE!r}"]
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        _require_owner(connection)
        connection.exec_driver_sql(_MAY_SEE.format(longest=_LONGEST_SITE_BYTES))
        for table in schema.metadata.tables.values():
            _protect(connection, table)
        for role, site in grants:
            _grant(connection, role, site)
            done.append(f"role {role} may use site {site!r}")
    return done


def _require_owner(connection: Connection) -> None:
    query = sa.text(
        "SELECT relname FROM pg_class WHERE relname = ANY(:names) AND relnamespace = current_schema()::regnamespace "
        "AND NOT pg_has_role(relowner, 'USAGE')"
    )
    foreign = sorted(connection.execute(query, {"names": [*schema.metadata.tables, _VERSION_TABLE]}).scalars())
    if foreign:
        raise StoreError(f"the tables {', '.join(foreign)} belong to another role; connect as their owner")


def _protect(connection: Connection, table: sa.Table) -> None:
    site = schema.site_column(table).name
    query = sa.text("SELECT policyname FROM pg_policies WHERE tablename = :name AND schemaname = current_schema()")
    present = set(connection.execute(query, {"name": table.name}).scalars())
    policies = {
        "robot_memory_own": f"FOR ALL USING (robot_memory_may_see({site})) WITH CHECK (robot_memory_may_see({site}))",
        "robot_memory_fleet": f"FOR SELECT USING ({site} = '{FLEET_SITE}')",
    }
    for name, rule in policies.items():
        if name not in present:
            connection.exec_driver_sql(f'CREATE POLICY {name} ON "{table.name}" {rule}')
    connection.exec_driver_sql(f'ALTER TABLE "{table.name}" ENABLE ROW LEVEL SECURITY')


def _grant(connection: Connection, role: str, site: str) -> None:
    check_names(role=role, site=site)
    name, tables = site_role(site), ", ".join(f'"{table}"' for table in schema.metadata.tables)
    group = _quoted(name)
    known = connection.execute(sa.text("SELECT 1 FROM pg_roles WHERE rolname = :name"), {"name": name}).first()
    for statement in (
        *(() if known else (f"CREATE ROLE {group} NOLOGIN",)),
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {group}",
        f"GRANT SELECT ON {_VERSION_TABLE} TO {group}",
        f"GRANT {group} TO {_quoted(role)}",
    ):
        connection.exec_driver_sql(statement.replace("%", "%%"))


def site_role(site: str) -> str:
    """Return the role of which those are members that may use a site; the database's function builds the same name."""
    data = site.encode()
    short = len(data) <= _LONGEST_SITE_BYTES
    return "rm:" + (site if short else hashlib.md5(data, usedforsecurity=False).hexdigest())


def _quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
