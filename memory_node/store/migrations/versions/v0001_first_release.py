"""The schema of the first release, from which 0002 goes on. New databases are made from `schema` at once."""

from __future__ import annotations

from memory_node.domain.errors import StoreError

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Refuse: no database is older than this."""
    raise StoreError("there is no schema before 0001; `site_database.create_tables` makes the tables of a new database")
