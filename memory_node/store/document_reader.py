"""Reads learned things, which the store keeps as documents: the newest version of each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store import schema
from memory_node.store.bad_rows import BadRows
from memory_node.store.records import Document
from memory_node.store.row_values import UNREADABLE

# Raises an error if the owner of a document cannot read its body.
BodyCheck = Callable[[dict[str, Any]], object]


def read_documents(
    connection: Connection, site: str, bad: BadRows, checks: Mapping[str, BodyCheck], *conditions: Any
) -> list[Document]:
    """Return of each document the newest version of any robot that can be read, given-up ones included.

    checks: by kind, what raises an error of a body that the owner of this kind could not read.
    """
    supports = schema.supports
    newest = {(one.kind, one.id): one for one in read_bodies(connection, site, bad, checks, *conditions)}
    sources: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    kinds = sorted({kind for kind, _ in newest})
    linked = sa.select(supports).where(supports.c.site == site, supports.c.record_kind.in_(kinds))
    linked = linked.order_by(supports.c.source_kind, supports.c.source_id)
    for row in bad.sift(supports, connection.execute(linked)) if kinds else ():
        sources[row.record_kind, row.record_id].append((row.source_kind, row.source_id))
    return [replace(document, sources=tuple(sources[key])) for key, document in newest.items()]


def read_bodies(
    connection: Connection, site: str, bad: BadRows, checks: Mapping[str, BodyCheck], *conditions: Any
) -> list[Document]:
    """Return what read_documents() does, without sources, which would be a million rows more to read."""
    documents = schema.documents
    query = sa.select(documents).where(documents.c.site == site, *conditions)
    rows = connection.execute(
        query.order_by(documents.c.kind, documents.c.id, documents.c.stamp_ns, documents.c.robot_id)
    )
    newest: dict[tuple[str, str], Document] = {}
    for row in bad.sift(documents, rows):
        body = json.loads(row.body)
        fault = _owners_fault(checks, row, body)
        if fault:
            bad.note(documents, row, fault)
        else:
            newest[row.kind, row.id] = Document(row.kind, row.id, body, row.stamp_ns, (), bool(row.removed))
    return list(newest.values())


def count_documents(connection: Connection, site: str, kinds: Sequence[str]) -> dict[str, int]:
    """Return by kind how many documents some robot holds and has not given up."""
    documents = schema.documents
    query = sa.select(documents.c.kind, sa.func.count(sa.distinct(documents.c.id)).label("held"))
    query = query.where(documents.c.site == site, documents.c.kind.in_(kinds), sa.not_(documents.c.removed))
    found = connection.execute(query.group_by(documents.c.kind))
    return dict.fromkeys(kinds, 0) | {row.kind: row.held for row in found}


def _owners_fault(checks: Mapping[str, BodyCheck], row: Any, body: dict[str, Any]) -> str:
    if row.kind not in checks or row.removed:
        return ""
    try:
        checks[row.kind](body)
    except UNREADABLE as error:
        return f"{row.kind}: {type(error).__name__}: {error}"
    return ""
