"""Spreads a server's tables over the nodes of Citus, and lets each role see its own sites only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.errors import StoreError
from memory_node.store import schema
from memory_node.store.apply import LOCK_LIMIT
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


def distribute(engine: Engine) -> list[str]:
    """Distribute the tables by site, those of an empty or a filled database; again does nothing.

    Raises:
        StoreError: there is no Citus, or the tables belong to somebody else.
    """
    make_tables(engine)
    done: list[str] = []
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not has_citus(connection):
            raise StoreError("this database has no Citus: run CREATE EXTENSION citus and add the workers first")
        _require_owner(connection)
        query = sa.text("SELECT logicalrelid::regclass::text FROM pg_dist_partition")
        present = set(connection.execute(query).scalars())
        for table in sorted(schema.metadata.tables.values(), key=lambda one: one is not schema.sites):
            if table.name not in present:
                connection.execute(_distribution(table))
                done.append(f"table {table.name} distributed by site")
            if _local_bytes(connection, table):
                call = sa.text("SELECT truncate_local_data_after_distributing_table(CAST(:name AS regclass))")
                connection.execute(call, {"name": table.name})
                done.append(f"table {table.name}: what the coordinator kept of it removed")
        if _VERSION_TABLE not in present:
            connection.execute(sa.text(f"SELECT create_reference_table('{_VERSION_TABLE}')"))
            done.append(f"table {_VERSION_TABLE} copied to every node")
        owner = str(connection.execute(sa.text("SELECT current_user")).scalar_one())
        done.append(_limit_locks(connection, owner))
    return done


def has_citus(connection: Connection) -> bool:
    """Return whether a server's database has the extension."""
    return connection.execute(sa.text("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).first() is not None


def _distribution(table: sa.Table) -> Any:
    beside = "default" if table is schema.sites else "sites"
    column = schema.site_column(table).name
    return sa.text(f"SELECT create_distributed_table('{table.name}', '{column}', colocate_with => '{beside}')")


def kept_by_coordinator(connection: Connection) -> list[str]:
    """Return the distributed tables of which the coordinator still keeps the rows from before; none without Citus."""
    if not has_citus(connection):
        return []
    query = sa.text("SELECT logicalrelid::regclass::text FROM pg_dist_partition WHERE partmethod = 'h'")
    ours = set(connection.execute(query).scalars()) & set(schema.metadata.tables)
    return sorted(name for name in ours if _local_bytes(connection, schema.metadata.tables[name]))


def _local_bytes(connection: Connection, table: sa.Table) -> int:
    query = sa.text("SELECT pg_relation_size(CAST(:name AS regclass))")
    return int(connection.execute(query, {"name": table.name}).scalar_one())


def _require_owner(connection: Connection) -> None:
    query = sa.text(
        "SELECT relname FROM pg_class WHERE relname = ANY(:names) AND relnamespace = current_schema()::regnamespace "
        "AND NOT pg_has_role(relowner, 'USAGE')"
    )
    foreign = sorted(connection.execute(query, {"names": [*schema.metadata.tables, _VERSION_TABLE]}).scalars())
    if foreign:
        raise StoreError(f"the tables {', '.join(foreign)} belong to another role; connect as their owner")


def _limit_locks(connection: Connection, role: str) -> str:
    """Let the workers give up waiting for a lock, too: what a transaction sets stays on the coordinator."""
    _on_each_node(connection, f"ALTER ROLE {_quoted(role)} SET lock_timeout = '{LOCK_LIMIT}'")
    return f"role {role} waits {LOCK_LIMIT} for a lock at most, on every node"


def _on_each_node(connection: Connection, statement: str) -> None:
    """Run a statement about roles; on workers, too, where Citus passes it on only for roles made in this database.

    Raises:
        StoreError: a worker refuses it.
    """
    connection.exec_driver_sql(statement.replace("%", "%%"))
    if not has_citus(connection):
        return
    alone = _block(f"SET LOCAL citus.enable_ddl_propagation TO off; {statement};")
    query = sa.text("SELECT nodename, nodeport, result FROM run_command_on_workers(:command) WHERE NOT success")
    for name, port, why in connection.execute(query, {"command": alone}):
        raise StoreError(f"the worker {name}:{port} refuses ({why}); run there: {statement}")


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
        if has_citus(connection):
            done += [_limit_locks(connection, role) for role in dict(grants)]
    return done


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
    group = _quoted(site_role(site))
    absent = f"NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {_literal(site_role(site))})"
    _on_each_node(connection, _block(f"IF {absent} THEN CREATE ROLE {group} NOLOGIN; END IF;"))
    tables = ", ".join(f'"{name}"' for name in schema.metadata.tables)
    connection.exec_driver_sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {group}".replace("%", "%%"))
    connection.exec_driver_sql(f"GRANT SELECT ON {_VERSION_TABLE} TO {group}".replace("%", "%%"))
    _on_each_node(connection, f"GRANT {group} TO {_quoted(role)}")


def site_role(site: str) -> str:
    """Return the role of which those are members that may use a site; the database's function builds the same name."""
    data = site.encode()
    short = len(data) <= _LONGEST_SITE_BYTES
    return "rm:" + (site if short else hashlib.md5(data, usedforsecurity=False).hexdigest())


def _quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _block(statements: str) -> str:
    """Return one statement that runs some."""
    return f"DO {_literal(f'BEGIN {statements} END')}"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
