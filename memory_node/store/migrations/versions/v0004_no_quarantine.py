"""Rows that cannot be read stay in their tables; the one to which they were moved before goes."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Remove the table, which databases of the first release never had."""
    op.execute("DROP TABLE IF EXISTS quarantine")
