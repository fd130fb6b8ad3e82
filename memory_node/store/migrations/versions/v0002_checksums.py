"""Every row gets a checksum, and rows that cannot be read get a place of their own."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import sqlalchemy as sa
from alembic import op

from memory_node.store.checksums import RowSeal

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_CHUNK = 5_000
_PICTURE = "crop_jpeg"
_TABLES = (
    *("sites", "sessions", "floors", "rooms", "areas", "objects", "appearances", "places", "events", "relations"),
    *("state_changes", "episodes", "steps", "documents", "supports", "tombstones", "forgettings", "artifacts"),
)


def upgrade() -> None:
    """Add the columns and the table, and seal what is there."""
    op.add_column("sites", sa.Column("revision_check", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("appearances", sa.Column("crop_checksum", sa.BigInteger(), nullable=True))
    for name in _TABLES:
        op.add_column(name, sa.Column("checksum", sa.BigInteger(), nullable=True))
    op.create_table(
        "quarantine",
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("row_key", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("stamp_ns", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("site", "id", name="pk_quarantine"),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    connection.execute(sa.text("UPDATE sites SET revision_check = -revision"))
    for name in _TABLES:
        _seal(connection, sa.Table(name, sa.MetaData(), autoload_with=connection))


def _seal(connection: sa.Connection, table: sa.Table) -> None:
    seal = RowSeal(table)
    if connection.dialect.name == "sqlite":
        _seal_file(connection, table, seal)
    else:
        _seal_server(connection, table, seal)


def _checksum(seal: RowSeal, values: list[Any]) -> int | None:
    """Return a row's checksum; None if it cannot be computed: such a row is checked when it is loaded."""
    try:
        return seal.of(values)
    except (ValueError, TypeError, struct.error):
        return None


def _seal_file(connection: sa.Connection, table: sa.Table, seal: RowSeal) -> None:
    """Seal a table in one statement; a million rows one by one would take a minute."""
    texts = {number for number, column in enumerate(table.c) if isinstance(column.type, sa.Text)}

    def checksum(*values: Any) -> int | None:
        found = [_decoded(v) if number in texts and isinstance(v, bytes) else v for number, v in enumerate(values)]
        return _checksum(seal, found)

    def picture_checksum(picture: Any) -> int | None:
        return zlib.crc32(picture) if isinstance(picture, bytes) else None

    database: Any = connection.connection.driver_connection
    database.create_function("row_checksum", len(table.c), checksum)
    database.create_function("picture_checksum", 1, picture_checksum)
    # As bytes: a text that is none would end the statement.
    names = [f'CAST("{c.name}" AS BLOB)' if n in texts else f'"{c.name}"' for n, c in enumerate(table.c)]
    if _PICTURE in table.c:
        connection.exec_driver_sql(f'UPDATE "{table.name}" SET crop_checksum = picture_checksum(crop_jpeg)')
    connection.exec_driver_sql(f'UPDATE "{table.name}" SET checksum = row_checksum({", ".join(names)})')


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _seal_server(connection: sa.Connection, table: sa.Table, seal: RowSeal) -> None:
    keys = [column == sa.bindparam(f"key_{column.name}") for column in table.primary_key]
    names = ["checksum", *(["crop_checksum"] if _PICTURE in table.c else [])]
    update = table.update().where(*keys).values({name: sa.bindparam(f"new_{name}") for name in names})
    rows = connection.execute(sa.select(table).execution_options(yield_per=_CHUNK)).mappings()
    for chunk in rows.partitions(_CHUNK):
        changes = []
        for found in chunk:
            row = dict(found)
            if _PICTURE in table.c:
                row["crop_checksum"] = zlib.crc32(row[_PICTURE])
            row["checksum"] = _checksum(seal, seal.values_of(row))
            change = {f"key_{column.name}": row[column.name] for column in table.primary_key}
            changes.append(change | {f"new_{name}": row[name] for name in names})
        connection.execute(update, changes)
