"""Finds what a request means: which records go, and with them everything that only they supported."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store import schema
from memory_node.store.copying import rows_of
from memory_node.store.forget_request import ForgetRequest
from memory_node.store.records import step_key
from memory_node.store.terms import Terms, texts_of


@dataclass
class ForgetPlan:
    """Ids of what goes. An object may also lose only a robot's belief, or what happened in a span.

    terms: what speaks of them goes too; traces: what may be found nowhere afterwards.
    """

    objects: set[str] = field(default_factory=set)
    steps: set[tuple[str, int]] = field(default_factory=set)
    episodes: set[str] = field(default_factory=set)
    documents: set[tuple[str, str]] = field(default_factory=set)
    terms: Terms = field(default_factory=Terms)
    words: tuple[str, ...] = ()

    @property
    def traces(self) -> Terms:
        """The words and the ids of objects and episodes; a text that only names an episode is none about it."""
        return Terms(self.words, self.objects | self.episodes)

    def sources(self) -> set[tuple[str, str]]:
        """Return the (kind, id) of everything that provenance may name."""
        found = {("object", object_id) for object_id in self.objects}
        found |= {("step", step_key(*key)) for key in self.steps}
        found |= {("episode", episode_id) for episode_id in self.episodes}
        return found | self.documents


def make_plan(connection: Connection, site: str, request: ForgetRequest) -> ForgetPlan:
    """Return what goes in this database."""
    plan = ForgetPlan()
    plan.objects = find_objects(connection, site, request)
    plan.words = tuple(word for word in (request.label.strip(), request.class_name) if word)
    plan.terms = Terms(plan.words, plan.objects)
    _find_steps(connection, site, request, plan)
    _find_documents(connection, site, request, plan)
    return plan


def find_objects(connection: Connection, site: str, request: ForgetRequest) -> set[str]:
    """Return the ids of the objects that go in this database."""
    objects = schema.objects
    here = objects.c.site == site
    if request.object_ids:
        return set(request.object_ids)
    if request.label:
        terms = Terms([request.label.strip()])
        rows = connection.execute(sa.select(objects.c.id, objects.c.body).where(here))
        return {object_id for object_id, body in rows if terms.found_in(texts_of(json.loads(body)))}
    if request.area_id:
        return _ids(connection, here, objects.c.area_id == request.area_id)
    if request.class_name:
        return _ids(connection, here, sa.func.lower(objects.c.class_name) == request.class_name.lower())
    if request.robot_id:
        own = _ids(connection, here, objects.c.robot_id == request.robot_id)
        return own - _ids(connection, here, objects.c.robot_id != request.robot_id)
    within = sa.and_(objects.c.first_seen_ns >= request.from_ns, objects.c.last_seen_ns <= request.until_ns)
    return _ids(connection, here, within) - _ids(connection, here, sa.not_(within))


def _ids(connection: Connection, *conditions: Any) -> set[str]:
    return set(connection.execute(sa.select(schema.objects.c.id).where(*conditions)).scalars())


def _find_steps(connection: Connection, site: str, request: ForgetRequest, plan: ForgetPlan) -> None:
    left: defaultdict[str, int] = defaultdict(int)
    columns = ("episode_id", "step_index", "arguments", "area", "stamp_ns", "robot_id")
    for row in rows_of(connection, site, schema.steps, *columns):
        about = bool(plan.terms) and plan.terms.found_in(texts_of(json.loads(row["arguments"])))
        there = bool(request.area_id) and row["area"] == request.area_id
        told = request.in_span(row["stamp_ns"]) or row["robot_id"] == (request.robot_id or None)
        if about or there or told:
            plan.steps.add((row["episode_id"], row["step_index"]))
        else:
            left[row["episode_id"]] += 1
    emptied = {episode_id for episode_id, _ in plan.steps if not left[episode_id]}
    for row in rows_of(connection, site, schema.episodes):
        ended_ns = row["ended_ns"] or row["started_ns"]
        spanned = request.in_span(row["started_ns"]) and request.in_span(ended_ns)
        if row["id"] in emptied or spanned or row["robot_id"] == (request.robot_id or None):
            plan.episodes.add(row["id"])


def _find_documents(connection: Connection, site: str, request: ForgetRequest, plan: ForgetPlan) -> None:
    """Add the documents that speak of it, and those that lose their last source, until none does any more."""
    supports: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for row in rows_of(connection, site, schema.supports):
        supports[row["record_kind"], row["record_id"]].add((row["source_kind"], row["source_id"]))
    owners: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows_of(connection, site, schema.documents):
        key = (row["kind"], row["id"])
        owners[key].add(row["robot_id"])
        unfounded = request.in_span(row["stamp_ns"]) and not supports[key]
        if unfounded or plan.terms.found_in(row["id"] + "\n" + texts_of(json.loads(row["body"]))):
            plan.documents.add(key)
    if request.robot_id:
        plan.documents |= {key for key, robots in owners.items() if robots == {request.robot_id}}
    while True:
        gone = plan.sources()
        orphaned = {
            key
            for key in owners
            if key not in plan.documents and _without_steps_of(supports[key], plan.episodes) <= gone and supports[key]
        }
        if not orphaned:
            return
        plan.documents |= orphaned


def _without_steps_of(sources: set[tuple[str, str]], episodes: set[str]) -> set[tuple[str, str]]:
    """Return the sources that are not steps of these episodes, which go with them."""
    return {(kind, id_) for kind, id_ in sources if kind != "step" or id_.rpartition(":")[0] not in episodes}
