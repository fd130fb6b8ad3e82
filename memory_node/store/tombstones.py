"""What was forgotten may not come back, and is not named either: only digests of its ids are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store.records import step_key
from memory_node.store.schema import tombstones

_FOR_GOOD = frozenset({"object", "step", "episode"})


def tombstone_of(kind: str, record_id: str) -> str:
    """Return the digest under which a forgotten record is known."""
    return hashlib.sha256(f"{kind}\n{record_id}".encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Tombstone:
    """When something was forgotten: the site's revision, and the clock."""

    revision: int
    stamp_ns: int


def read_tombstones(connection: Connection, site: str, since_revision: int = -1) -> dict[str, Tombstone]:
    """Return by digest the tombstones that were set after a revision."""
    columns = (tombstones.c.id, tombstones.c.revision, tombstones.c.stamp_ns)
    newer = (tombstones.c.site == site, tombstones.c.revision > since_revision)
    return {
        row.id: Tombstone(row.revision, row.stamp_ns) for row in connection.execute(sa.select(*columns).where(*newer))
    }


def is_buried(table: str, row: Any, dead: Mapping[str, Tombstone]) -> bool:
    """Return whether a row speaks of something forgotten.

    An id of an object, a step or an episode is gone for good; a document may be learned anew from later evidence.
    """
    if not dead:
        return False
    for kind, record_id in references(table, row):
        tombstone = dead.get(tombstone_of(kind, record_id))
        if tombstone is not None and (kind in _FOR_GOOD or row["stamp_ns"] <= tombstone.stamp_ns):
            return True
    return False


def references(table: str, row: Any) -> Iterator[tuple[str, str]]:
    """Yield the (kind, id) of everything without which this row may not exist."""
    if table == "objects":
        yield "object", row["id"]
    elif table in ("appearances", "places", "events", "state_changes"):
        yield "object", row["object_id"]
    elif table == "relations":
        yield "object", row["source_id"]
        yield "object", row["target_id"]
    elif table == "episodes":
        yield "episode", row["id"]
    elif table == "steps":
        yield "episode", row["episode_id"]
        yield "step", step_key(row["episode_id"], row["step_index"])
    elif table == "documents":
        yield row["kind"], row["id"]
    elif table == "supports":
        yield row["source_kind"], row["source_id"]
        yield row["record_kind"], row["record_id"]
