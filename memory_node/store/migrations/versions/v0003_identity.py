"""Every site gets an identity, by which a journal knows its database, and sessions tell from which machine they are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memory_node.domain.ids import new_id
from memory_node.store.checksums import RowSeal

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_COLUMNS = {"sites": ("identity",), "sessions": ("installation", "host")}


def upgrade() -> None:
    """Add the columns, give each site an identity, and seal the rows again."""
    connection = op.get_bind()
    for name, columns in _COLUMNS.items():
        for column in columns:
            op.add_column(name, sa.Column(column, sa.Text(), nullable=False, server_default=""))
    for name in _COLUMNS:
        table = sa.Table(name, sa.MetaData(), autoload_with=connection)
        seal = RowSeal(table)
        for found in connection.execute(sa.select(table)).mappings().all():
            row = dict(found)
            if name == "sites":
                row["identity"] = new_id()
            row["checksum"] = seal.of(seal.values_of(row))
            key = [column == row[column.name] for column in table.primary_key]
            changed = {column: row[column] for column in (*_COLUMNS[name], "checksum")}
            connection.execute(table.update().where(*key).values(changed))
