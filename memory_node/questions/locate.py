"""Answers where a thing is, or where to look for it, from both memories and the map."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import AnswerStatus, FindQuery, Location, ObjectAnswer, RankedArea, Recollection
from memory_node.domain.errors import UnknownPlaceError
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.scene import met_elsewhere, states_as_of
from memory_node.domain.states import ObjectState, believed
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.graph_readings import Whereabouts, whereabouts, whereabouts_as_of
from memory_node.search.ranker import Ranker, answer_of
from memory_node.search.request_words import described
from memory_node.search.scoring import (
    Candidates,
    Facts,
    Floats,
    PlaceMention,
    Request,
    Rows,
    bits_of_class,
    by_class,
    state_bits,
)


class SceneView:
    """A `View`; used for one request, under the graph's lock. Its rows count what the query's filters let through.

    Removed objects count, too: they are answered with as probably gone. within: the ids of the areas that count, None
    for all. No object is built that is not answered with.
    """

    def __init__(self, scene: SceneGraph, ranker: Ranker, request: Request, within: Collection[str] | None) -> None:
        self._scene = scene
        self._table = scene.state.table
        self._ranker = ranker
        self._request = request
        self._then_ns = request.query.as_of_ns
        self._within = within
        number_of = ranker.classes.number_of
        self._numbers = np.array([number_of(name) for name in self._table.class_names], dtype=np.int32)
        told = ((state for state, likely in states if likely) for states in self._table.state_sets)
        self._bits_of_set = np.array([state_bits(*states) for states in told], dtype=np.int64)
        self._bits_of_class = np.array([bits_of_class(name) for name in self._table.class_names], dtype=np.int64)
        self._asked = Whereabouts(*_NOTHING)

    def __len__(self) -> int:
        return len(self._table)

    def candidates(self) -> Candidates:
        """Return the objects to score, with the cosine of each one's own words with the request."""
        table, request = self._table, self._request
        chosen = np.ones(len(self._numbers), dtype=np.bool_)
        if request.wanted_classes is not None:
            chosen &= by_class(request.wanted_classes, self._numbers)
        if request.fit is not None:
            chosen &= self._ranker.scoring.may_be_meant(request, self._numbers)
        rows = np.flatnonzero(table.alive & chosen.take(table.class_code, mode="clip")) if len(chosen) else _NO_ROWS
        asked = whereabouts_as_of(table, rows, self._then_ns) if self._then_ns else whereabouts(table, rows)
        if self._within is not None:
            inside = np.array([area_id in self._within for area_id in table.area_ids], dtype=np.bool_)
            asked = asked.select(inside[asked.area_code])
        if request.query.states:
            wanted = state_bits(*request.query.states)
            asked = asked.select(self._states(asked.rows) & wanted == wanted)
        self._asked = asked
        own = None if request.vector is None else self._own_cosines(asked.rows, request.vector)
        return Candidates(np.arange(len(asked.rows)), self._numbers[table.class_code[asked.rows]], own)

    def looks(self, rows: Rows, picture_vector: NDArray[np.float32]) -> Floats | None:
        """Return the cosines (n,) of the objects' looks with the request, 0 where nothing is known of them."""
        cosines = np.zeros(len(rows))
        for index, row in enumerate(self._asked.rows[rows].tolist()):
            embedding = self._table.record(row).embedding
            if embedding is not None and len(embedding) == len(picture_vector):
                cosines[index] = float(embedding.astype(np.float32) @ picture_vector)
        return cosines

    def facts(self, rows: Rows) -> Facts:
        """Return what else is known of objects (n,)."""
        asked, table, request = self._asked, self._table, self._request
        at = asked.rows[rows]
        return Facts(
            class_probability=table.class_share[at].astype(np.float64),
            existence=1.0 / (1.0 + np.exp(-table.log_odds[at].astype(np.float64))),
            age_s=np.asarray((request.now_ns - asked.last_seen[rows]) * 1e-9, dtype=np.float64),
            position=asked.center[rows],
            states=self._states(at) if request.states else np.zeros(len(at), dtype=np.int64),
            at_place=None if request.place is None else self._at_place(rows, request.place),
        )

    def answer(self, row: int, score: float) -> ObjectAnswer | None:
        """Return an object under the answer contract."""
        at = int(self._asked.rows[row])
        if self._then_ns:
            found = next(self._scene.objects_as_of([at], self._then_ns))
        else:
            found = self._scene.state.object_at(at)
        unit = MemoryUnit.of_object(found, self._scene.room_name(found.area_id))
        return answer_of(unit, score, self._request.now_ns, "long_term", self._scene.frame_verified)

    def _states(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Return the states that are believed of table rows (n,), as bits."""
        table = self._table
        of_class = self._bits_of_class[table.class_code[rows]]
        if not self._then_ns:
            return np.asarray(self._bits_of_set[table.state_code[rows]] | of_class)
        of_then = np.array([state_bits(*self._states_then(row)) for row in rows.tolist()], dtype=np.int64)
        return np.asarray(of_then | of_class)

    def _own_cosines(self, rows: NDArray[Any], vector: NDArray[np.float32]) -> Floats:
        """Return how like the request each object's own words are (n,): every description is compared once."""
        table = self._table
        if not len(rows):
            return np.zeros(0)
        if self._then_ns:
            then = [
                described(table.class_names[table.class_code[row]], self._states_then(row)) for row in rows.tolist()
            ]
            once = {text: index for index, text in enumerate(dict.fromkeys(then))}
            found = self._ranker.classes.vectors_of(list(once)) @ vector
            return np.asarray(found[[once[text] for text in then]])
        sets = len(table.state_sets)
        kind = table.class_code[rows].astype(np.intp) * sets + table.state_code[rows]
        used = np.flatnonzero(np.bincount(kind))
        words = [
            described(table.class_names[i // sets], [state for state, likely in table.state_sets[i % sets] if likely])
            for i in used.tolist()
        ]
        cosines = np.zeros(int(used[-1]) + 1)
        cosines[used] = self._ranker.classes.vectors_of(words) @ vector
        return np.asarray(cosines[kind])

    def _states_then(self, row: int) -> tuple[ObjectState, ...]:
        """Return the states that were believed of a table row at the stamp that is asked about."""
        return believed(states_as_of(self._table.record(row).states, self._then_ns))

    def _at_place(self, rows: Rows, place: PlaceMention) -> Floats:
        asked, table = self._asked, self._table
        rooms = [self._scene.room_name(area_id) for area_id in table.area_ids]
        is_room = np.array([place.is_room(name) for name in rooms], dtype=np.bool_)
        room_known = np.array([bool(name) for name in rooms], dtype=np.bool_)
        area = asked.area_code[rows]
        supports = np.full(len(rows), -1, dtype=np.int32)
        for index, row in enumerate(asked.rows[rows].tolist()):
            support = table.row_of.get(table.record(row).support_id)
            if support is not None:
                supports[index] = self._numbers[table.class_code[support]]
        return place.holds(is_room[area], room_known[area], supports)


_NO_ROWS = np.zeros(0, dtype=np.intp)
_NOTHING = (_NO_ROWS, np.zeros((0, 3)), np.zeros(0, np.int32), np.zeros(0, np.int64))


class LongTermSearch:
    """Thread-safe; lock: guards the graph."""

    def __init__(self, scene: SceneGraph, ranker: Ranker, lock: threading.RLock) -> None:
        self._scene = scene
        self._ranker = ranker
        self._lock = lock
        self._classes_met = 0

    def find(self, query: FindQuery, now_ns: int) -> Recollection:
        """Return the objects that fit a query under the answer contract.

        Raises:
            UnknownPlaceError: its area is none that memory knows.
        """
        query, within = self.restricted(query)
        self._meet_classes()
        # Words are embedded before the graph is locked: a camera must not wait for a slow embedder.
        request = self._ranker.read(query, now_ns)
        with self._lock:
            return self._ranker.rank(request, SceneView(self._scene, self._ranker, request, within))

    def in_order(self, answers: tuple[ObjectAnswer, ...]) -> tuple[ObjectAnswer, ...]:
        """Return answers with what ranks equal by its distance from the robot, what is on its floor first; the only two
        of one thing that was moved (see `met_elsewhere`) with the younger first."""
        with self._lock:
            here, places = self._scene.robot_at, self._scene.places
            if len(answers) == 2 and answers[1].status is AnswerStatus.OK:
                older = met_elsewhere(self._scene.objects_of_class(answers[0].object_class), self._scene.find)
                if older is not None and older.id in {one.object_id for one in answers}:
                    return tuple(sorted(answers, key=lambda one: one.object_id == older.id))
            if here is None:
                return answers
            away = [
                (places.floor_at(float(one.position[2])) != places.here, math.dist(here, one.position[:2]))
                for one in answers
            ]
        equals = itertools.groupby(zip(answers, away), key=lambda row: (row[0].status, round(row[0].score, 6)))
        return tuple(one for _, same in equals for one, _ in sorted(same, key=lambda row: row[1]))

    def _meet_classes(self) -> None:
        """Let the ranker know of every class that the graph holds before it reads a request."""
        with self._lock:
            names = self._scene.state.table.class_names[self._classes_met :]
        for name in names:
            self._ranker.classes.number_of(name)
        self._classes_met += len(names)

    def restricted(self, query: FindQuery) -> tuple[FindQuery, frozenset[str] | None]:
        """Return a query that excludes by their ids what is on or in excluded things, and the ids of the areas that it
        is restricted to, None for all.

        Raises:
            UnknownPlaceError: its area is none that memory knows.
        """
        if not query.area_id and not query.exclude_supports:
            return query, None
        with self._lock:
            contents = (self._scene.state.contents.get(support, ()) for support in query.exclude_supports)
            exclude_ids = query.exclude_ids.union(*contents)
            return replace(query, exclude_ids=exclude_ids, exclude_supports=frozenset()), self._areas_of(query)

    def _areas_of(self, query: FindQuery) -> frozenset[str] | None:
        if not query.area_id:
            return None
        places = self._scene.places
        within = frozenset(places.areas_within(query.area_id))
        if not within & places.areas.keys():
            names = sorted({room.name for room in places.rooms.values()} | {f.name for f in places.floors.values()})
            known = f"an area's, room's or floor's id, or one of {', '.join(names)}" if names else "a map to come first"
            raise UnknownPlaceError(f"area_id: expected {known}; got {query.area_id!r}")
        return within


def locate(
    query: FindQuery,
    recall: Callable[[FindQuery], Recollection],
    find: Callable[[FindQuery], Recollection],
    rank_search_areas: Callable[[str, int], tuple[RankedArea, ...]],
    max_areas: int = 0,
) -> Location:
    """Return the sure answers of the short-term memory, else those of the long-term memory, else the doubtful answers
    of both. Without a sure answer the places where the thing is likely are added.

    recall, find: ask the two memories; the second is only asked when the first is not sure, or when a place is given
    that the thing should be near: what was just used may be a far one of several. Of those that memory is sure of the
    nearest comes first then. rank_search_areas: of a class, or of the query's words where it names none; max_areas: at
    most so many, 0 for all.
    """
    if query.near is not None:
        sure = _nearest_first(query.near, [*recall(query).answers, *find(query).answers])[: query.k]
        if sure:
            return Location(sure, AnswerStatus.OK, f"the nearest of {len(sure)} that fit")
    doubted: list[tuple[ObjectAnswer, ...]] = []
    said = []
    for ask in (recall, find):
        recollection = ask(query)
        answers = _surest_first(recollection.answers)
        if answers and answers[0].status is AnswerStatus.OK:
            return Location(answers, AnswerStatus.OK, recollection.explanation)
        said.append(recollection.explanation)
        doubted += [answers] if answers else []
    answers = doubted[0] if doubted else ()
    areas = rank_search_areas(query.object_class or query.text, max_areas)
    status = answers[0].status if answers else AnswerStatus.UNKNOWN
    said.append(f"{len(areas)} places to look at" if areas else "no map to look in")
    return Location(answers, status, "; ".join(dict.fromkeys(filter(None, said))), areas)


def _nearest_first(near: tuple[float, float, float], answers: Sequence[ObjectAnswer]) -> tuple[ObjectAnswer, ...]:
    """Return the answers that may be trusted, each thing once, by their distance from a place (x, y, z) in map."""
    sure: dict[str, ObjectAnswer] = {}
    for answer in answers:
        if answer.status is AnswerStatus.OK:
            sure.setdefault(answer.object_id, answer)
    return tuple(sorted(sure.values(), key=lambda answer: math.dist(near, answer.position)))


def _surest_first(answers: tuple[ObjectAnswer, ...]) -> tuple[ObjectAnswer, ...]:
    """Return answers in their order, but for what is likely gone, which comes after the others."""
    return tuple(sorted(answers, key=lambda answer: answer.status is not AnswerStatus.OK))
