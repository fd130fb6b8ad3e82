"""What is to be forgotten: the request, the words and ids that may be found nowhere, the records that go with it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.errors import InvalidValueError
from memory_node.store import schema
from memory_node.store.copying import CHUNK, rows_of
from memory_node.store.records import step_key

BLACKENED = "[forgotten]"

# Up to this number, ids are searched one by one; for more, a text is split into words.
_FEW = 16
# A fragment of up to so many characters is in nearly every text.
_EVERYWHERE = 2
# Most terms that are left to the database's own search.
_FEW_FRAGMENTS = 4
# What stands the same in every text that holds a term, whatever its case and whether the text is JSON: ASCII, without
# letters that also match others (the Kelvin sign is a k), what JSON escapes, and what LIKE takes for something else.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\U0010ffff\"\\%_iIkKsS]+")
_TOKEN = re.compile(r"[\w-]+")


def texts_of(value: Any) -> str:
    """Return all texts of a JSON value, names included, apart from each other."""
    if isinstance(value, dict):
        return "\n".join(f"{name}\n{texts_of(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "\n".join(texts_of(part) for part in value)
    return value if isinstance(value, str) else ""


def texts_within(text: str) -> str | None:
    """Return all texts of a JSON object or list, None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return texts_of(json.loads(text))
    except ValueError:
        return None


class Terms:
    """Whole words, upper and lower case alike; ids may be many thousands."""

    def __init__(self, words: Collection[str] = (), ids: Collection[str] = ()) -> None:
        self._ids = frozenset(name.lower() for name in ids if _TOKEN.fullmatch(name))
        self._words = {*words, *(name for name in ids if not _TOKEN.fullmatch(name))}
        parts = _alternatives(self._words)
        self._pattern = re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE) if parts else None

    def __bool__(self) -> bool:
        return bool(self._ids or self._words)

    def found_in(self, text: str) -> bool:
        """Return whether a text holds any of them."""
        if self._pattern is not None and self._pattern.search(text):
            return True
        if len(self._ids) <= _FEW:
            lowered = text.lower()
            if not any(name in lowered for name in self._ids):
                return False
        return any(token.lower() in self._ids for token in _TOKEN.findall(text))

    def blacken(self, text: str) -> str:
        """Return the text without them."""
        if self._pattern is not None:
            text = self._pattern.sub(BLACKENED, text)
        if not self._ids:
            return text
        return _TOKEN.sub(lambda match: BLACKENED if match[0].lower() in self._ids else match[0], text)

    def blacken_value(self, value: Any) -> Any:
        """Return a JSON value with all its texts blackened."""
        if isinstance(value, dict):
            return {name: self.blacken_value(part) for name, part in value.items()}
        if isinstance(value, list):
            # An entry of which nothing is left, such as an id, goes.
            return [part for part in map(self.blacken_value, value) if part != BLACKENED]
        return self.blacken(value) if isinstance(value, str) else value

    def fragments(self) -> tuple[str, ...] | None:
        """Return a part of each term that every text with it holds; None when they are many or say too little."""
        names = {*self._ids, *map(str.lower, self._words)}
        parts = [max(_PLAIN.findall(name), key=len, default="") for name in names]
        if len(parts) > _FEW_FRAGMENTS or any(len(part) <= _EVERYWHERE for part in parts):
            return None
        return tuple(sorted(set(parts)))


def _alternatives(names: Collection[str]) -> str:
    """Return a pattern that finds any of the names, the longest where several begin."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_REMEMBERED_TEXTS = 100_000


class TextFinder:
    """Looks for terms in texts of which many come again, as those of steps do: each one is looked through once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._found: dict[str, bool] = {}

    def __call__(self, text: Any) -> bool:
        """Return whether a column's text, which may be JSON, holds a term; False for what is no text."""
        if not isinstance(text, str):
            return False
        found = self._found.get(text)
        if found is None:
            if len(self._found) >= _REMEMBERED_TEXTS:
                self._found.clear()
            found = self._found[text] = self._look_through(text)
        return found

    def _look_through(self, text: str) -> bool:
        # In JSON, escapes may hide a term, and numbers and punctuation may seem to be one.
        if not self._terms.found_in(text) and "\\" not in text:
            return False
        within = texts_within(text)
        return self._terms.found_in(text if within is None else within)


def may_mention(connection: Connection, columns: Sequence[sa.Column], terms: Terms) -> Any:
    """Return a condition that every row fulfils whose columns hold a term, and some others do; None: look yourself.

    The database looks ten times faster.
    """
    fragments = terms.fragments()
    if fragments is None:
        return None
    # SQLite's LIKE does not tell upper from lower case.
    plain = connection.dialect.name == "sqlite"
    looks = (column.like if plain else column.ilike for column in columns)
    return sa.or_(sa.false(), *(look(f"%{fragment}%") for look in looks for fragment in fragments))


def rows_mentioning(
    connection: Connection, site: str, table: sa.Table, names: Sequence[str], terms: Terms
) -> Iterator[dict[str, Any]]:
    """Yield the keys and the named columns of a site's rows in which one of these columns holds a term."""
    columns = [table.c[name] for name in names]
    keys = [column for column in table.primary_key if column.name not in names]
    query = sa.select(*keys, *columns).where(table.c.site == site)
    condition = may_mention(connection, columns, terms)
    if condition is not None:
        query = query.where(condition)
    finder = TextFinder(terms)
    first, fields = len(keys), [column.name for column in (*keys, *columns)]
    for row in connection.execute(query.execution_options(yield_per=CHUNK)):
        if any(map(finder, row[first:])):
            yield dict(zip(fields, row))


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
        scopes += [bool(self.from_ns or self.until_ns), bool(self.robot_id)]
        if sum(scopes) != 1:
            raise InvalidValueError(f"ForgetRequest: expected one scope, got {sum(scopes)}")
        if self.until_ns < self.from_ns:
            raise InvalidValueError(f"ForgetRequest: the span ends ({self.until_ns}) before it begins ({self.from_ns})")

    @property
    def scope(self) -> str:
        """The kind of the request, without its content."""
        if self.from_ns or self.until_ns:
            return "time span"
        return next(f.name for f in fields(self) if getattr(self, f.name)).replace("_", " ")

    def in_span(self, stamp_ns: int) -> bool:
        """Return whether a stamp lies in the span; never where none was asked for."""
        return bool(self.from_ns or self.until_ns) and self.from_ns <= stamp_ns <= self.until_ns


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
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return it for printing."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


_AMONG = 500
# (kind, id) of a document, and of what it was learnt from.
_Document = tuple[str, str]
_Source = tuple[str, str]


@dataclass
class ForgetPlan:
    """Ids of the records to erase. An object may also lose only one robot's belief, or what happened in a span. terms:
    records that contain them are erased, too; traces: what must not be found anywhere afterwards.
    """

    objects: set[str] = field(default_factory=set)
    steps: set[tuple[str, int]] = field(default_factory=set)
    episodes: set[str] = field(default_factory=set)
    documents: set[tuple[str, str]] = field(default_factory=set)
    supports: set[tuple[str, str, str, str]] = field(default_factory=set)
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
        return {row["id"] for row in rows_mentioning(connection, site, objects, ("body",), terms)}
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
    """Add the steps that are about it, and the episodes of which none is left."""
    steps = schema.steps
    told = sa.or_(sa.false(), *_told(request))
    query = sa.select(steps.c.episode_id, steps.c.step_index, steps.c.arguments, told).where(steps.c.site == site)
    about = may_mention(connection, [steps.c.arguments], plan.terms) if plan.terms else sa.false()
    if about is not None:
        query = query.where(sa.or_(told, about))
    finder = TextFinder(plan.terms)
    going: Counter[str] = Counter()
    for episode_id, index, arguments, is_told in connection.execute(query.execution_options(yield_per=CHUNK)):
        if is_told or finder(arguments):
            plan.steps.add((episode_id, index))
            going[episode_id] += 1
    plan.episodes |= {id_ for id_, count in _counts_of(connection, site, list(going)) if going[id_] == count}
    columns = ("id", "started_ns", "ended_ns", "robot_id")
    for row in rows_of(connection, site, schema.episodes, *columns):
        ended_ns = row["ended_ns"] or row["started_ns"]
        spanned = request.in_span(row["started_ns"]) and request.in_span(ended_ns)
        if spanned or row["robot_id"] == (request.robot_id or None):
            plan.episodes.add(row["id"])


def _told(request: ForgetRequest) -> Iterator[Any]:
    """Yield the conditions of steps that go whatever they were about."""
    steps = schema.steps
    if request.area_id:
        yield steps.c.area == request.area_id
    if request.from_ns or request.until_ns:
        yield steps.c.stamp_ns.between(request.from_ns, request.until_ns)
    if request.robot_id:
        yield steps.c.robot_id == request.robot_id


def _counts_of(connection: Connection, site: str, episode_ids: list[str]) -> Iterator[tuple[str, int]]:
    """Yield how many steps each of these episodes has."""
    steps = schema.steps
    count = sa.select(steps.c.episode_id, sa.func.count()).where(steps.c.site == site).group_by(steps.c.episode_id)
    for start in range(0, len(episode_ids), _AMONG):
        chosen = steps.c.episode_id.in_(episode_ids[start : start + _AMONG])
        yield from map(tuple, connection.execute(count.where(chosen)))


def _find_documents(connection: Connection, site: str, request: ForgetRequest, plan: ForgetPlan) -> None:
    """Add the documents that speak of it, and those that lose their last source, until none does any more."""
    supports = _read_supports(connection, site)
    owners: defaultdict[_Document, set[str]] = defaultdict(set)
    finder = TextFinder(plan.terms)
    for row in rows_of(connection, site, schema.documents, "kind", "id", "robot_id", "stamp_ns", "body"):
        key = (row["kind"], row["id"])
        owners[key].add(row["robot_id"])
        unfounded = request.in_span(row["stamp_ns"]) and not supports[key]
        if unfounded or finder(row["id"]) or finder(row["body"]):
            plan.documents.add(key)
    if request.robot_id:
        plan.documents |= {key for key, robots in owners.items() if robots == {request.robot_id}}
    while orphaned := _orphaned(owners, supports, plan):
        plan.documents |= orphaned
    gone = plan.sources()
    for record, sources in supports.items():
        kept = set() if record in plan.documents else _without_steps_of(sources, plan.episodes) - gone
        plan.supports |= {(*record, *source) for source in sources - kept}


def _read_supports(connection: Connection, site: str) -> defaultdict[_Document, set[_Source]]:
    """Return the sources of each record that has any."""
    supports: defaultdict[_Document, set[_Source]] = defaultdict(set)
    for row in rows_of(connection, site, schema.supports):
        supports[row["record_kind"], row["record_id"]].add((row["source_kind"], row["source_id"]))
    return supports


def _orphaned(
    documents: Collection[_Document], supports: Mapping[_Document, set[_Source]], plan: ForgetPlan
) -> set[_Document]:
    """Return the documents that stay by the plan, but lose every source that they had."""
    gone = plan.sources()
    return {
        key
        for key in documents
        if key not in plan.documents and supports.get(key) and _without_steps_of(supports[key], plan.episodes) <= gone
    }


def _without_steps_of(sources: set[tuple[str, str]], episodes: set[str]) -> set[tuple[str, str]]:
    """Return the sources that are not steps of these episodes, which go with them."""
    return {(kind, id_) for kind, id_ in sources if kind != "step" or id_.rpartition(":")[0] not in episodes}
