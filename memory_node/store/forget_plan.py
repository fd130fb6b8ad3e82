"""What is to be forgotten: the request, the words and ids that may be found nowhere, the records that go with it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.errors import InvalidValueError
from memory_node.store import schema
from memory_node.store.copying import CHUNK
from memory_node.store.records import step_key, to_json

BLACKENED = "[forgotten]"

# Most ids that are left to the database's own search.
_FEW = 4
# It finds ids of digits and these letters in any case; to others, characters beyond ASCII are equal, too.
_UUID = re.compile(r"[0-9a-f-]+")
_TOKEN = re.compile(r"[\w-]+")
_REMEMBERED_TEXTS = 100_000


class Terms:
    """Whole words, upper and lower case alike; ids may be many thousands."""

    def __init__(self, words: Collection[str] = (), ids: Collection[str] = ()) -> None:
        self._ids = frozenset(name.lower() for name in ids if _TOKEN.fullmatch(name))
        self._words = sorted({*words, *(name for name in ids if not _TOKEN.fullmatch(name))}, key=len, reverse=True)
        parts = "|".join(map(re.escape, self._words))
        self._pattern = re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE) if parts else None
        # Of texts of steps many come again: each one is looked through once.
        self.found_in = lru_cache(_REMEMBERED_TEXTS)(self._found_in)

    def __bool__(self) -> bool:
        return bool(self._ids or self._words)

    def _found_in(self, text: Any) -> bool:
        """Return whether a column's text, which may be JSON, holds a term; False for what is no text."""
        # In JSON, escapes may hide a term, and numbers and punctuation may seem to be one.
        if not isinstance(text, str) or not (self._stands_in(text) or "\\" in text):
            return False
        value = json_within(text)
        return self._stands_in(text if value is None else _texts_of(value))

    def _stands_in(self, text: str) -> bool:
        if self._pattern is not None and self._pattern.search(text):
            return True
        return bool(self._ids) and any(token.lower() in self._ids for token in _TOKEN.findall(text))

    def blacken(self, text: str) -> str:
        """Return a text, which may be JSON, without them."""
        value = json_within(text)
        return self._blacken_plain(text) if value is None else to_json(self._blacken_value(value))

    def _blacken_plain(self, text: str) -> str:
        if self._pattern is not None:
            text = self._pattern.sub(BLACKENED, text)
        return _TOKEN.sub(lambda match: BLACKENED if match[0].lower() in self._ids else match[0], text)

    def _blacken_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._blacken_value(part) for name, part in value.items()}
        if isinstance(value, list):
            # An entry of which nothing is left, such as an id, goes.
            return [part for part in map(self._blacken_value, value) if part != BLACKENED]
        return self._blacken_plain(value) if isinstance(value, str) else value

    def may_stand_in(self, columns: Sequence[sa.Column]) -> sa.ColumnElement[bool]:
        """Return a condition that every row fulfils whose columns hold a term; of few ids, the database finds them."""
        if self._words or len(self._ids) > _FEW or not all(map(_UUID.fullmatch, self._ids)):
            return sa.true()
        return sa.or_(sa.false(), *(column.ilike(f"%{name}%") for column in columns for name in self._ids))


def _texts_of(value: Any) -> str:
    """Return all texts of a JSON value, names included, apart from each other."""
    if isinstance(value, dict):
        return "\n".join(f"{name}\n{_texts_of(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "\n".join(map(_texts_of, value))
    return value if isinstance(value, str) else ""


def json_within(text: str) -> Any:
    """Return the JSON object or list that a text is, None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def rows_mentioning(
    connection: Connection, site: str, table: sa.Table, names: Sequence[str], terms: Terms
) -> Iterator[dict[str, Any]]:
    """Yield the keys and the named columns of a site's rows in which one of these columns holds a term."""
    columns = [table.c[name] for name in names]
    keys = [column for column in table.primary_key if column.name not in names]
    query = sa.select(*keys, *columns).where(table.c.site == site, terms.may_stand_in(columns))
    fields = [column.name for column in (*keys, *columns)]
    for row in connection.execute(query.execution_options(yield_per=CHUNK)):
        if any(map(terms.found_in, row[len(keys) :])):
            yield dict(zip(fields, row))


# Of what a row tells: the column of its area, and those of when it begins and ends.
_AREAS = {"objects": "area_id", "places": "area_id", "steps": "area"}
_STAMPS = {
    "objects": ("first_seen_ns", "last_seen_ns"),
    "places": ("since_ns", "until_ns"),
    "episodes": ("started_ns", "ended_ns"),
    **dict.fromkeys(("events", "state_changes", "steps"), ("stamp_ns",)),
}


@dataclass(frozen=True)
class ForgetRequest:
    """One scope: objects by id, an area, a class, a label, a time span, or a robot.

    label: words that name or belong to a person; whatever carries them in any text is forgotten or blackened.
    from_ns and until_ns: a span, both ends included.
    """

    object_ids: tuple[str, ...] = ()
    area_id: str = ""
    class_name: str = ""
    label: str = ""
    from_ns: int = 0
    until_ns: int = 0
    robot_id: str = ""

    def __post_init__(self) -> None:
        scopes = [bool(self.object_ids), bool(self.area_id), bool(self.class_name), bool(self.label.strip())]
        scopes += [bool(self.span), bool(self.robot_id)]
        if sum(scopes) != 1:
            raise InvalidValueError(f"ForgetRequest: expected one scope, got {sum(scopes)}")
        if self.until_ns < self.from_ns:
            raise InvalidValueError(f"ForgetRequest: the span ends ({self.until_ns}) before it begins ({self.from_ns})")

    @property
    def span(self) -> range:
        """The stamps that are asked for; none where no span is."""
        return range(self.from_ns, self.until_ns + 1) if self.from_ns or self.until_ns else range(0)

    @property
    def scope(self) -> str:
        """The kind of the request, without its content."""
        if self.span:
            return "time span"
        return next(f.name for f in fields(self) if getattr(self, f.name)).replace("_", " ")

    def told_of(self, table: sa.Table) -> sa.ColumnElement[bool]:
        """Return the condition of the rows that go by themselves: of the area, class or robot, or within the span."""
        if self.area_id and table.name in _AREAS:
            return table.c[_AREAS[table.name]] == self.area_id
        if self.class_name and table is schema.objects:
            return sa.func.lower(table.c.class_name) == self.class_name.lower()
        if self.robot_id:
            return table.c.robot_id == self.robot_id
        if self.span and table.name in _STAMPS:
            stamps = [table.c[name] for name in _STAMPS[table.name]]
            within = [stamp.between(self.from_ns, self.until_ns) for stamp in stamps]
            # An episode that goes on has no end yet.
            return sa.and_(within[0], *(sa.or_(one, stamp == 0) for one, stamp in zip(within[1:], stamps[1:])))
        return sa.false()


@dataclass(frozen=True)
class ForgetReport:
    """What was forgotten: rows by table, rows with blackened text, and where it might still be.

    object_ids: of the objects that are gone. verified: all files could be cleaned and hold none of it any more; found:
    those that still do. backups: files that were cleaned as well. exports: files that the tool wrote earlier and
    cannot clean.
    """

    scope: str
    counts: dict[str, int]
    blackened: int
    object_ids: tuple[str, ...]
    verified: bool
    found: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# (kind, id) of a record or of what it was learnt from.
_Named = tuple[str, str]


class ForgetPlan:
    """The ids of the records of a database that go.

    objects: may also lose only one robot's belief, or what happened in a span. terms: records that contain them go,
    too. traces: what must not be found anywhere afterwards; a text that only names an episode is none about it.
    supporting: the sources that support nothing any more.
    """

    def __init__(self, connection: Connection, site: str, request: ForgetRequest) -> None:
        self._connection = connection
        self._site = site
        self._request = request
        words = [word for word in (request.label.strip(), request.class_name) if word]
        self.objects = find_objects(connection, site, request)
        self.terms = Terms(words, self.objects)
        self.steps: set[tuple[str, int]] = set()
        self.episodes: set[str] = set()
        self._find_steps()
        self.traces = Terms(words, self.objects | self.episodes)
        # What was learnt and goes.
        self.documents: set[_Named] = set()
        self._find_documents()

    def sources(self) -> set[_Named]:
        """Return the (kind, id) of everything that provenance may name."""
        found = {("object", object_id) for object_id in self.objects}
        # A step of an episode that goes is known by that.
        found |= {("step", step_key(*key)) for key in self.steps if key[0] not in self.episodes}
        found |= {("episode", episode_id) for episode_id in self.episodes}
        return found | self.documents

    def _find_steps(self) -> None:
        """Add the steps that are about it or told, and the episodes that are, or of which no step is left."""
        steps = schema.steps.c
        told = self._rows(schema.steps, "episode_id", "step_index", told=True)
        about = rows_mentioning(self._connection, self._site, schema.steps, ("arguments",), self.terms)
        self.steps = {*map(tuple, told), *((row["episode_id"], row["step_index"]) for row in about)}
        self.episodes = set(self._rows(schema.episodes, "id", told=True).scalars())
        going = Counter(episode_id for episode_id, _ in self.steps)
        counts = sa.select(steps.episode_id, sa.func.count()).where(steps.site == self._site)
        for episode_id, count in self._connection.execute(counts.group_by(steps.episode_id)) if going else ():
            if count == going[episode_id]:
                self.episodes.add(episode_id)

    def _rows(self, table: sa.Table, *names: str, told: bool = False) -> sa.CursorResult[Any]:
        """Return these columns of the site's rows; told: of those alone of which the request itself tells."""
        query = sa.select(*(table.c[name] for name in names)).where(table.c.site == self._site)
        query = query.where(self._request.told_of(table)) if told else query
        return self._connection.execute(query.execution_options(yield_per=CHUNK))

    def _find_documents(self) -> None:
        """Add the documents that speak of it, and those that lose their last source, until none does any more."""
        supports: defaultdict[_Named, set[_Named]] = defaultdict(set)
        gone = self.sources()
        for row in self._rows(schema.supports, "record_kind", "record_id", "source_kind", "source_id"):
            source = (row.source_kind, row.source_id)
            supports[row.record_kind, row.record_id].add(source)
            if source[0] == "step" and source[1].rpartition(":")[0] in self.episodes:
                gone.add(source)
        about = rows_mentioning(self._connection, self._site, schema.documents, ("id", "body"), self.terms)
        self.documents = {(row["kind"], row["id"]) for row in about}
        owners: defaultdict[_Named, set[str]] = defaultdict(set)
        for row in self._rows(schema.documents, "kind", "id", "robot_id", "stamp_ns"):
            key = (row.kind, row.id)
            owners[key].add(row.robot_id)
            if row.stamp_ns in self._request.span and not supports[key]:
                self.documents.add(key)
        if self._request.robot_id:
            self.documents |= {key for key, robots in owners.items() if robots == {self._request.robot_id}}
        gone |= self.documents
        while orphaned := {key for key in owners.keys() - gone if supports[key] and supports[key] <= gone}:
            self.documents |= orphaned
            gone |= orphaned
        self.supporting = gone


def find_objects(connection: Connection, site: str, request: ForgetRequest) -> set[str]:
    """Return the ids of the objects that go in a database."""
    objects = schema.objects
    if request.object_ids:
        return set(request.object_ids)
    if request.label:
        terms = Terms([request.label.strip()])
        return {row["id"] for row in rows_mentioning(connection, site, objects, ("body",), terms)}

    def ids(condition: sa.ColumnElement[bool]) -> set[str]:
        return set(connection.execute(sa.select(objects.c.id).where(objects.c.site == site, condition)).scalars())

    # What another robot believes too, or what was also seen at another time, stays.
    shared = request.robot_id or request.span
    told = request.told_of(objects)
    return ids(told) - (ids(sa.not_(told)) if shared else set())
