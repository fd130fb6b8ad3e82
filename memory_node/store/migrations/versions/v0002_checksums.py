"""Every row gets a checksum, and rows that cannot be read get a place of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLES = (
    *("sites", "sessions", "floors", "rooms", "areas", "objects", "appearances", "places", "events", "relations"),
    *("state_changes", "episodes", "steps", "documents", "supports", "tombstones", "forgettings", "artifacts"),
)


def upgrade() -> None:
    """Add the columns and the table; 0003 seals what is there."""
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
    op.execute("UPDATE sites SET revision_check = -revision")
