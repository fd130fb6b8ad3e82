"""Every row gets a checksum."""

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
    """Add the columns; 0003 seals what is there."""
    op.add_column("sites", sa.Column("revision_check", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("appearances", sa.Column("crop_checksum", sa.BigInteger(), nullable=True))
    for name in _TABLES:
        op.add_column(name, sa.Column("checksum", sa.BigInteger(), nullable=True))
    op.execute("UPDATE sites SET revision_check = -revision")
