"""Finds objects in the scene graph with the ranker that the short-term memory is searched with."""

from __future__ import annotations

import itertools
import math
import threading
from dataclasses import replace

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.errors import UnknownPlaceError
from memory_node.domain.scene import met_elsewhere
from memory_node.questions.scene_view import SceneView
from memory_node.scene_graph.graph import SceneGraph
from memory_node.search.ranker import Ranker


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
