"""The tables, the same on SQLite and PostgreSQL; `site` leads every key so that a fleet's tables partition by it.

A belief is one robot's view of one object: robots never overwrite each other's rows, so no update can be lost.
"""

from __future__ import annotations

import sqlalchemy as sa

SCHEMA_VERSION = "0003"

metadata = sa.MetaData(
    naming_convention={"pk": "pk_%(table_name)s", "ix": "ix_%(table_name)s_%(column_0_N_name)s"},
)


class Octets(sa.LargeBinary):
    """Binary values as the driver gives them.

    SQLAlchemy before 2.1 makes bytes of what it reads, and fails on a damaged row that holds a text before the row can
    be put away.
    """

    cache_ok = True

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> None:
        """Return nothing that changes a value; sqlite3 and psycopg give bytes."""


def _key(name: str) -> sa.Column:
    return sa.Column(name, sa.Text, primary_key=True)


def _text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=False)


def _text_since(name: str) -> sa.Column:
    # A column that came with a migration.
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _integer(name: str) -> sa.Column:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _number(name: str) -> sa.Column:
    return sa.Column(name, sa.Double, nullable=False)


def _flag(name: str) -> sa.Column:
    return sa.Column(name, sa.Boolean, nullable=False)


def _blob(name: str) -> sa.Column:
    return sa.Column(name, Octets, nullable=False)


def _origin() -> tuple[sa.Column, ...]:
    return (_text("robot_id"), _text("session_id"), _integer("revision"))


def _checksum(name: str) -> sa.Column:
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
    _key("name"),
    _integer("revision"),
    _integer("created_ns"),
    _integer("revision_check"),
    _text_since("identity"),
)

# installation: the machine that the robot's program ran on; host: its name, for people.
sessions = _table(
    "sessions",
    _key("site"),
    _key("id"),
    _text("robot_id"),
    _integer("started_ns"),
    _text("program"),
    _text_since("installation"),
    _text_since("host"),
)

# geometry: 16 float64 little-endian: centre 3, size 3, yaw, covariance 9.
objects = _table(
    "objects",
    _key("site"),
    _key("id"),
    _key("robot_id"),
    _text("session_id"),
    _integer("revision"),
    _text("class_name"),
    _number("x"),
    _number("y"),
    _number("z"),
    _number("existence"),
    _text("area_id"),
    _text("support_id"),
    _text("merged_into"),
    _flag("removed"),
    _integer("first_seen_ns"),
    _integer("last_seen_ns"),
    _integer("last_missed_ns"),
    _integer("times_seen"),
    _integer("times_missed"),
    _blob("geometry"),
    _text("body"),
)

# What an object looks like changes seldom and is large; it is written only when it changed.
appearances = _table(
    "appearances",
    _key("site"),
    _key("object_id"),
    _key("robot_id"),
    _integer("revision"),
    _blob("embedding"),
    _blob("crop_jpeg"),
    _checksum("crop_checksum"),
    large_rows=True,
)

# geometry: 7 float64 little-endian: centre 3, size 3, yaw.
places = _table(
    "places",
    _key("site"),
    _key("object_id"),
    _key("robot_id"),
    sa.Column("since_ns", sa.BigInteger, primary_key=True),
    _integer("revision"),
    _integer("until_ns"),
    _text("area_id"),
    _text("support_id"),
    _blob("geometry"),
)

events = _table(
    "events",
    _key("site"),
    _key("object_id"),
    sa.Column("stamp_ns", sa.BigInteger, primary_key=True),
    _key("kind"),
    *_origin(),
    _text("into_id"),
)

state_changes = _table(
    "state_changes",
    _key("site"),
    _key("id"),
    *_origin(),
    _text("object_id"),
    _integer("stamp_ns"),
    _text("body"),
)

floors = _table("floors", _key("site"), _key("id"), *_origin(), _flag("removed"), _text("name"), _number("height_m"))

rooms = _table(
    "rooms",
    _key("site"),
    _key("id"),
    *_origin(),
    _flag("removed"),
    _text("name"),
    _text("floor_id"),
    _number("x"),
    _number("y"),
    _number("area_m2"),
    _flag("named_by_user"),
)

areas = _table(
    "areas",
    _key("site"),
    _key("id"),
    *_origin(),
    _flag("removed"),
    _text("name"),
    _text("floor_id"),
    _text("room_id"),
    _number("x"),
    _number("y"),
    _integer("last_viewed_ns"),
)

relations = _table(
    "relations",
    _key("site"),
    _key("source_id"),
    _key("kind"),
    _key("target_id"),
    *_origin(),
    _flag("removed"),
    _number("distance_m"),
    _number("probability"),
)

episodes = _table(
    "episodes",
    _key("site"),
    _key("id"),
    *_origin(),
    _text("instruction"),
    _text("task_type"),
    _integer("started_ns"),
    _integer("ended_ns"),
    sa.Column("success", sa.Boolean, nullable=True),
    _integer("attempt"),
)

steps = _table(
    "steps",
    _key("site"),
    _key("episode_id"),
    sa.Column("step_index", sa.Integer, primary_key=True),
    *_origin(),
    _integer("stamp_ns"),
    _text("skill"),
    _text("arguments"),
    _flag("success"),
    _text("reason"),
    _text("message"),
    _text("held_object"),
    _text("room"),
    _text("area"),
    _number("x"),
    _number("y"),
    _number("z"),
    _text("visible"),
    _text("relations"),
    _number("duration_s"),
    _number("distance_m"),
)

# Lessons, propositions: one JSON document a robot, the newest is the one that counts.
documents = _table(
    "documents",
    _key("site"),
    _key("kind"),
    _key("id"),
    _key("robot_id"),
    _text("session_id"),
    _integer("revision"),
    _flag("removed"),
    _integer("stamp_ns"),
    _text("body"),
    large_rows=True,
)

# Provenance: `record` was learned from `source` (kinds: a document's kind, "step", "episode", "object").
supports = _table(
    "supports",
    _key("site"),
    _key("record_kind"),
    _key("record_id"),
    _key("source_kind"),
    _key("source_id"),
    *_origin(),
    _integer("stamp_ns"),
)

# Digests of ids that may not come back, so that an offline robot cannot bring back what was forgotten.
tombstones = _table("tombstones", _key("site"), _key("kind"), _key("id"), _integer("revision"), _integer("stamp_ns"))

# That something was forgotten, by which kind of request, and how much; never what.
forgettings = _table(
    "forgettings", _key("site"), _key("id"), _text("robot_id"), _integer("stamp_ns"), _text("scope"), _text("counts")
)

# Backups and exports that this tool wrote, so that forgetting reaches them.
artifacts = _table("artifacts", _key("site"), _key("path"), _text("kind"), _integer("made_ns"))

# Rows that could not be read when they were loaded; content: all columns as JSON, see `quarantine`.
quarantine = _table(
    "quarantine",
    _key("site"),
    _key("id"),
    _text("table_name"),
    _text("row_key"),
    _text("reason"),
    _integer("stamp_ns"),
    _text("content"),
)

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
SEALED: tuple[sa.Table, ...] = (sites, sessions, *LOGGED, tombstones, forgettings, artifacts, quarantine)

for _logged in LOGGED:
    sa.Index(None, _logged.c.site, _logged.c.revision)
sa.Index(None, objects.c.site, objects.c.class_name)
sa.Index(None, objects.c.site, objects.c.area_id)
sa.Index(None, supports.c.site, supports.c.source_kind, supports.c.source_id)
sa.Index(None, tombstones.c.site, tombstones.c.revision)


def site_column(table: sa.Table) -> sa.Column[str]:
    """Return the column that tells a row's site."""
    return table.c.name if table is sites else table.c.site
