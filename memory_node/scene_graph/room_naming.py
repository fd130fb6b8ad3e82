"""Names rooms after their contents, unless a person named them, and keeps a name while it fits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.scene import Room, SceneEvent, SceneEventKind
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.room_kinds import RoomClassifier
from memory_node.scene_graph.state import GraphState

# How far beyond a room's areas, in spacings of areas, its things are looked for: on counters, against walls.
_REACH = 2.0


class RoomNaming:
    """Looks again at the rooms whose things were seen or changed, at most once a period of stamps.

    What a room holds is read from the graph each time, so that nothing has to be kept in step with it; the embedder is
    asked only about classes that were never met before.
    """

    def __init__(self, state: GraphState, places: Places, classifier: RoomClassifier) -> None:
        self._state = state
        self._places = places
        self._classifier = classifier
        self._touched: set[str] = set()
        self._held: dict[str, frozenset[str]] = {}
        self._renamed: dict[str, None] = {}
        self._looked_ns: int | None = None

    def touch(self, area_ids: Iterable[str]) -> None:
        """Note the areas in which something was seen or changed."""
        self._touched.update(area_ids)

    def note(self, events: Iterable[SceneEvent]) -> None:
        """Note where events happened; what moved also left a place."""
        for event in events:
            left = event.object.history[-1:] if event.kind is SceneEventKind.MOVED else ()
            self.touch([event.object.area_id, *(place.area_id for place in left)])

    def take_renamed(self) -> tuple[Room, ...]:
        """Return the rooms that have got another name since the last call, as they are now."""
        renamed = tuple(self._places.rooms[room_id] for room_id in self._renamed if room_id in self._places.rooms)
        self._renamed.clear()
        return renamed

    def rename(self, at_once: bool = False) -> None:
        """Name the touched rooms again.

        at_once: do not wait for the period's end. An embedder that fails is asked again a period later, and counted
        ("room_naming_failed").
        """
        state, config = self._state, self._state.config
        waited_s = np.inf if self._looked_ns is None else abs(state.now_ns - self._looked_ns) * 1e-9
        if not self._touched or (waited_s < config.room_naming_period_s and not at_once):
            return
        self._looked_ns = state.now_ns
        areas = self._places.areas
        room_ids = dict.fromkeys(areas[area_id].room_id for area_id in sorted(self._touched) if area_id in areas)
        try:
            for room_id in room_ids:
                self._rename_room(room_id)
            self._touched.clear()
        except RobotMemoryError:
            state.counters["room_naming_failed"] += 1

    def _rename_room(self, room_id: str) -> None:
        room = self._places.rooms.get(room_id)
        if room is None or room.named_by_user:
            return
        held = self._contents(room_id)
        if held == self._held.get(room_id):
            return
        name = self._name(room, held)
        self._held[room_id] = held
        if name != room.name:
            self._places.name_room(room_id, name, by_user=False)
            self._renamed[room_id] = None

    def _contents(self, room_id: str) -> frozenset[str]:
        """Return the classes of the things that are believed to be in a room."""
        state = self._state
        areas = {area.id: area.position for area in self._places.areas.values() if area.room_id == room_id}
        at = np.array(list(areas.values()))
        reach = _REACH * state.config.area_spacing_m
        low, high = at.min(axis=0) - reach, at.max(axis=0) + reach
        rows = state.index.within((float(low[0]), float(low[1])), (float(high[0]), float(high[1])))
        records = [state.table.record(row) for row in rows[state.table.log_odds[rows] > 0.0].tolist()]
        return frozenset(r.best_class for r in records if r.area_id in areas) - {"object"}

    def _name(self, room: Room, held: frozenset[str]) -> str:
        """Return the name that fits: a kind is taken up when it is sure, and kept until it has become unlikely."""
        config, chances = self._state.config, self._classifier.probabilities(held)
        best = max(chances, key=lambda kind: chances[kind])
        wanted = current = self._classifier.kind_in(room.name)
        if chances[best] >= config.room_name_confidence:
            wanted = best
        elif chances.get(current, 0.0) < config.room_keep_confidence:
            wanted = ""
        return room.name if wanted == current else self._places.free_room_name(wanted)
