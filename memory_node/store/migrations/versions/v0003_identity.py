"""Every site gets an identity, by which a journal knows its database, and sessions tell from which machine they are."""

from __future__ import annotations

import zlib

import sqlalchemy as sa
from alembic import op

from memory_node.domain.ids import new_id
from memory_node.store.checksums import RowSeal
from memory_node.store.reader import lenient_text

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_COLUMNS = {"sites": ("identity",), "sessions": ("installation", "host")}
_CHUNK = 5_000


def upgrade() -> None:
    """Add the columns, give each site an identity, and seal the rows."""
    connection = op.get_bind()
    for name, columns in _COLUMNS.items():
        for column in columns:
            op.add_column(name, sa.Column(column, sa.Text(), nullable=False, server_default=""))
    for site in connection.execute(sa.text("SELECT name FROM sites")).scalars().all():
        connection.execute(
            sa.text("UPDATE sites SET identity = :made WHERE name = :site"), {"made": new_id(), "site": site}
        )
    tables = sa.MetaData()
    tables.reflect(connection)
    with lenient_text(connection):
        for table in tables.sorted_tables:
            if "checksum" in table.c:
                _seal(connection, table)


def _seal(connection: sa.Connection, table: sa.Table) -> None:
    """Seal the rows without a checksum, and all of a table with a new column; those without valid values stay so."""
    seal = RowSeal(table)
    # As they are stored: values of damaged rows may be of any type.
    stored = ", ".join(f'"{name}"' for name in seal.names)
    unsealed = "" if table.name in _COLUMNS else " WHERE checksum IS NULL"
    query = sa.text(f'SELECT {stored} FROM "{table.name}"{unsealed}').execution_options(yield_per=_CHUNK)
    names = [name for name in ("checksum", "crop_checksum") if name in table.c]
    keys = [column == sa.bindparam(f"key_{column.name}") for column in table.primary_key]
    update = table.update().where(*keys).values({name: sa.bindparam(f"new_{name}") for name in names})
    for chunk in connection.execute(query).mappings().partitions(_CHUNK):
        changes = []
        for found in chunk:
            row = {**found, "checksum": None}
            if isinstance(row.get("crop_jpeg"), bytes):
                row["crop_checksum"] = zlib.crc32(row["crop_jpeg"])
            if seal.fault(seal.values_of(row)):
                continue  # it is left out when it is read
            row["checksum"] = seal.of(seal.values_of(row))
            keyed = {f"key_{column.name}": row[column.name] for column in table.primary_key}
            changes.append(keyed | {f"new_{name}": row[name] for name in names})
        if changes:
            connection.execute(update, changes)
