"""Counts dangling references; they are harmless, but show that something is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store import schema

# What the scene graph calls the robot's hand.
_HAND = "robot"


def loose_ends(connection: Connection, site: str) -> Iterator[str]:
    """Yield, for each kind of reference that leads nowhere, how many there are."""
    for what, table, condition in _looks(site):
        query = sa.select(sa.func.count()).select_from(table).where(table.c.site == site, condition)
        count = connection.execute(query).scalar_one()
        if count:
            yield f"{table.name}: {count} rows {what}"


def _looks(site: str) -> Iterator[tuple[str, sa.Table, Any]]:
    objects, relations = schema.objects, schema.relations
    kinds = (objects, schema.areas, schema.rooms, schema.floors)
    places = sa.union(*(sa.select(table.c.id).where(table.c.site == site) for table in kinds)).subquery()

    def is_place(column: sa.Column) -> Any:
        return column.in_(sa.select(places.c.id))

    hangs = sa.and_(objects.c.support_id.not_in(("", _HAND)), sa.not_(is_place(objects.c.support_id)))
    yield "stand on something that is not there", objects, hangs
    merged = sa.and_(objects.c.merged_into != "", sa.not_(_is_object(objects.c.merged_into, site)))
    yield "merged into an object that is not there", objects, merged
    loose = sa.or_(sa.not_(is_place(relations.c.source_id)), sa.not_(is_place(relations.c.target_id)))
    yield "join nodes that are not there", relations, sa.and_(sa.not_(relations.c.removed), loose)
    episodes = sa.select(schema.episodes.c.id).where(schema.episodes.c.site == site)
    yield "have no episode", schema.steps, schema.steps.c.episode_id.not_in(episodes)
    yield from orphans(site)


def _is_object(column: sa.Column, site: str) -> Any:
    return column.in_(sa.select(schema.objects.c.id).where(schema.objects.c.site == site))


def orphans(site: str) -> Iterator[tuple[str, sa.Table, Any]]:
    """Yield the rows that no record needs any more: what they are, their table, and their condition beside the site."""
    for table in (schema.appearances, schema.places):
        yield "have no object", table, sa.not_(_is_object(table.c.object_id, site))
    documents, supports = schema.documents, schema.supports
    known = sa.exists().where(
        documents.c.site == site, documents.c.kind == supports.c.record_kind, documents.c.id == supports.c.record_id
    )
    yield "are of learned things that are not there", supports, sa.not_(known)
