"""The tables, the same on SQLite and PostgreSQL; `site` leads every key so that a fleet's tables partition by it.

A belief is one robot's view of one object: robots never overwrite each other's rows, so no update can be lost.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

SCHEMA_VERSION = "0004"

metadata = sa.MetaData(
    naming_convention={"pk": "pk_%(table_name)s", "ix": "ix_%(table_name)s_%(column_0_N_name)s"},
)


class Octets(sa.LargeBinary):
    """Binary values as the driver gives them.

    SQLAlchemy before 2.1 makes bytes of what it reads, and fails on a damaged row that holds a text before the row can
    be left out.
    """

    cache_ok = True

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> None:
        """Return nothing that changes a value; sqlite3 and psycopg give bytes."""


def _columns(kind: type[sa.types.TypeEngine[Any]], *names: str, **options: Any) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, **{"nullable": False, **options}) for name in names]


def _keys(*names: str) -> list[sa.Column[Any]]:
    return _columns(sa.Text, *names, primary_key=True)


def _texts(*names: str) -> list[sa.Column[Any]]:
    return _columns(sa.Text, *names)


def _integers(*names: str) -> list[sa.Column[Any]]:
    return _columns(sa.BigInteger, *names)


def _numbers(*names: str) -> list[sa.Column[Any]]:
    return _columns(sa.Double, *names)


def _flags(*names: str) -> list[sa.Column[Any]]:
    return _columns(sa.Boolean, *names)


def _blobs(*names: str) -> list[sa.Column[Any]]:
    return _columns(Octets, *names)


def _origin() -> list[sa.Column[Any]]:
    return [*_texts("robot_id", "session_id"), *_integers("revision")]


def _checksum(name: str) -> sa.Column[Any]:
    # NULL: written by a program that knew no checksums.
    return sa.Column(name, sa.BigInteger, nullable=True)


def _table(name: str, *columns: sa.Column, large_rows: bool = False) -> sa.Table:
    # SQLite clusters small rows by their key; rows of kilobytes would make that tree deep.
    return sa.Table(name, metadata, *columns, _checksum("checksum"), sqlite_with_rowid=large_rows)


# One counter a site: the update of its row orders the commits of all robots, so that a revision once read is complete.
# revision_check: the negative of revision, each raised by itself, so that a damaged one stays noticed.
# identity: made with the site; a journal is replayed into no other database.
sites = _table(
    "sites",
    *_keys("name"),
    *_integers("revision", "created_ns", "revision_check"),
    *_columns(sa.Text, "identity", server_default=""),
)

# installation: the machine that the robot's program ran on; host: its name, for people.
sessions = _table(
    "sessions",
    *_keys("site", "id"),
    *_texts("robot_id"),
    *_integers("started_ns"),
    *_texts("program"),
    *_columns(sa.Text, "installation", "host", server_default=""),
)

# geometry: 16 float64 little-endian: centre 3, size 3, yaw, covariance 9.
objects = _table(
    "objects",
    *_keys("site", "id", "robot_id"),
    *_texts("session_id"),
    *_integers("revision"),
    *_texts("class_name"),
    *_numbers("x", "y", "z", "existence"),
    *_texts("area_id", "support_id", "merged_into"),
    *_flags("removed"),
    *_integers("first_seen_ns", "last_seen_ns", "last_missed_ns", "times_seen", "times_missed"),
    *_blobs("geometry"),
    *_texts("body"),
)

# What an object looks like changes seldom and is large; it is written only when it changed.
appearances = _table(
    "appearances",
    *_keys("site", "object_id", "robot_id"),
    *_integers("revision"),
    *_blobs("embedding", "crop_jpeg"),
    _checksum("crop_checksum"),
    large_rows=True,
)

# geometry: 7 float64 little-endian: centre 3, size 3, yaw.
places = _table(
    "places",
    *_keys("site", "object_id", "robot_id"),
    *_columns(sa.BigInteger, "since_ns", primary_key=True),
    *_integers("revision", "until_ns"),
    *_texts("area_id", "support_id"),
    *_blobs("geometry"),
)

events = _table(
    "events",
    *_keys("site", "object_id"),
    *_columns(sa.BigInteger, "stamp_ns", primary_key=True),
    *_keys("kind"),
    *_origin(),
    *_texts("into_id"),
)

state_changes = _table(
    "state_changes", *_keys("site", "id"), *_origin(), *_texts("object_id"), *_integers("stamp_ns"), *_texts("body")
)

floors = _table("floors", *_keys("site", "id"), *_origin(), *_flags("removed"), *_texts("name"), *_numbers("height_m"))

rooms = _table(
    "rooms",
    *_keys("site", "id"),
    *_origin(),
    *_flags("removed"),
    *_texts("name", "floor_id"),
    *_numbers("x", "y", "area_m2"),
    *_flags("named_by_user"),
)

areas = _table(
    "areas",
    *_keys("site", "id"),
    *_origin(),
    *_flags("removed"),
    *_texts("name", "floor_id", "room_id"),
    *_numbers("x", "y"),
    *_integers("last_viewed_ns"),
)

relations = _table(
    "relations",
    *_keys("site", "source_id", "kind", "target_id"),
    *_origin(),
    *_flags("removed"),
    *_numbers("distance_m", "probability"),
)

episodes = _table(
    "episodes",
    *_keys("site", "id"),
    *_origin(),
    *_texts("instruction", "task_type"),
    *_integers("started_ns", "ended_ns"),
    *_columns(sa.Boolean, "success", nullable=True),
    *_integers("attempt"),
)

steps = _table(
    "steps",
    *_keys("site", "episode_id"),
    *_columns(sa.Integer, "step_index", primary_key=True),
    *_origin(),
    *_integers("stamp_ns"),
    *_texts("skill", "arguments"),
    *_flags("success"),
    *_texts("reason", "message", "held_object", "room", "area"),
    *_numbers("x", "y", "z"),
    *_texts("visible", "relations"),
    *_numbers("duration_s", "distance_m"),
)

# Lessons, propositions: one JSON document a robot, the newest is the one that counts.
documents = _table(
    "documents",
    *_keys("site", "kind", "id", "robot_id"),
    *_texts("session_id"),
    *_integers("revision"),
    *_flags("removed"),
    *_integers("stamp_ns"),
    *_texts("body"),
    large_rows=True,
)

# Provenance: `record` was learned from `source` (kinds: a document's kind, "step", "episode", "object").
supports = _table(
    "supports",
    *_keys("site", "record_kind", "record_id", "source_kind", "source_id"),
    *_origin(),
    *_integers("stamp_ns"),
)

# Digests of ids that may not come back, so that an offline robot cannot bring back what was forgotten.
tombstones = _table("tombstones", *_keys("site", "kind", "id"), *_integers("revision", "stamp_ns"))

# That something was forgotten, by which kind of request, and how much; never what.
forgettings = _table(
    "forgettings", *_keys("site", "id"), *_texts("robot_id"), *_integers("stamp_ns"), *_texts("scope", "counts")
)

# Backups and exports that this tool wrote, so that forgetting reaches them.
artifacts = _table("artifacts", *_keys("site", "path"), *_texts("kind"), *_integers("made_ns"))

# What travels through the log, in the order in which a batch is applied.
LOGGED: tuple[sa.Table, ...] = (
    floors,
    rooms,
    areas,
    objects,
    appearances,
    places,
    events,
    relations,
    state_changes,
    episodes,
    steps,
    documents,
    supports,
)

# The columns of an object's or episode's id without which a row may not exist, by table.
OWNERS: dict[str, dict[str, tuple[str, ...]]] = {
    "object": {
        "objects": ("id",),
        **dict.fromkeys(("appearances", "places", "events", "state_changes"), ("object_id",)),
        "relations": ("source_id", "target_id"),
    },
    "episode": {"episodes": ("id",), "steps": ("episode_id",)},
}

# All tables whose rows carry a checksum.
SEALED: tuple[sa.Table, ...] = (sites, sessions, *LOGGED, tombstones, forgettings, artifacts)

for _logged in LOGGED:
    sa.Index(None, _logged.c.site, _logged.c.revision)
sa.Index(None, objects.c.site, objects.c.class_name)
sa.Index(None, objects.c.site, objects.c.area_id)
sa.Index(None, supports.c.site, supports.c.source_kind, supports.c.source_id)
sa.Index(None, tombstones.c.site, tombstones.c.revision)


def site_column(table: sa.Table) -> sa.Column[str]:
    """Return the column that tells a row's site."""
    return table.c.name if table is sites else table.c.site
