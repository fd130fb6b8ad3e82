"""Names rooms after the kind that their contents tell, unless a person named them."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.names import embedded_now
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import Room, SceneEvent, SceneEventKind
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import GraphState

# A bound on the weight of one thing, so that a bicycle in a bedroom does not rule the kind out.
_LEAST_PROBABILITY = 1e-3
# The share of things of a class that are in other rooms than the catalogue says. By four random things of each of the
# 120 AI2-THOR rooms, five times: with 0.02 532 are named and 21 wrongly, with 0.1 483 and 12, with 0.3 228 and none.
_ELSEWHERE = 0.1
_NUMBERED = re.compile(r"(.+?) [0-9]+")


class RoomClassifier:
    """Computes the evidence of each class once, and adds it up for each room.

    catalogue: its `rooms` are the kinds, each with phrases. cosine_slope: log-odds between two kinds for each unit of
    cosine by which a thing is more like one of them.

    Raises:
        InvalidValueError: the catalogue has fewer than two kinds of rooms.
    """

    def __init__(self, catalogue: ObjectCatalogue, embedder: TextEmbedder, cosine_slope: float) -> None:
        if len(catalogue.rooms) < 2:
            raise InvalidValueError(f"{catalogue.name}: rooms: expected two or more, got {len(catalogue.rooms)}")
        self._catalogue = catalogue
        self._phrases = catalogue.rooms
        self._embedder = embedder
        self._slope = cosine_slope
        self._described: NDArray[np.float32] | None = None
        self._evidence: dict[str, NDArray[np.float64]] = {}

    def kind_in(self, room_name: str) -> str:
        """Return the kind that a room is named by, as in "bedroom 2"; empty for any other name."""
        return room_kind(room_name, self._phrases)

    def probabilities(self, classes: Collection[str]) -> dict[str, float]:
        """Return the probability of each kind for a room that holds things of these classes; they sum to 1.

        Several things of a class count once: twelve drawers make no kitchen. A class that is not embedded yet does not
        count.
        """
        missing = embedded_now(sorted(set(classes) - set(self._evidence)))
        if missing:
            self._evidence.update(zip(missing, self._weigh(missing)))
        weighed = sorted(self._evidence.keys() & set(classes))
        total = sum((self._evidence[name] for name in weighed), np.zeros(len(self._phrases)))
        odds = np.exp(total - total.max())
        return dict(zip(self._phrases, (odds / odds.sum()).tolist()))

    def _weigh(self, classes: list[str]) -> NDArray[np.float64]:
        """Return the log-odds (n, kinds) that each class gives, scaled by its specificity (one minus the normalised
        entropy of its kinds): a window may be in any room, a toilet in one kind only."""
        share = np.zeros((len(classes), len(self._phrases)))
        told = [self._told(name) for name in classes]
        for row, rooms in enumerate(told):
            if rooms:
                share[row] = _ELSEWHERE / len(self._phrases)
                share[row, rooms] += (1.0 - _ELSEWHERE) / len(rooms)
        untold = [row for row, rooms in enumerate(told) if not rooms]
        if untold:
            share[untold] = self._share_by_meaning([classes[row] for row in untold])
        characteristic = 1.0 + (share * np.log(share)).sum(axis=1, keepdims=True) / np.log(len(self._phrases))
        return np.asarray(characteristic * np.log((share + _LEAST_PROBABILITY) * len(self._phrases)))

    def _told(self, name: str) -> list[int]:
        """Return the numbers of the kinds of rooms where things of a class usually are; [] where nobody has said."""
        kind = self._catalogue.find(name)
        return [number for number, room in enumerate(self._phrases) if kind is not None and room in kind.rooms]

    def _share_by_meaning(self, classes: list[str]) -> NDArray[np.float64]:
        """Return the probability (n, kinds) of each kind by the likeness of the class to the phrases of the kinds."""
        described = [(name, *phrases) for name, phrases in self._phrases.items()]
        sizes = [len(phrases) for phrases in described]
        if self._described is None:
            self._described = self._embedder.embed([phrase for phrases in described for phrase in phrases])
        cosine = self._embedder.embed([spoken(name) for name in classes]) @ self._described.T
        best = np.maximum.reduceat(cosine, np.cumsum([0, *sizes[:-1]]), axis=1).astype(np.float64)
        odds = np.exp(self._slope * (best - best.max(axis=1, keepdims=True)))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def room_kind(room_name: str, kinds: Container[str]) -> str:
    """Return which of some kinds a room is named by, as in "bedroom 2"; empty for any other name."""
    numbered = _NUMBERED.fullmatch(room_name)
    kind = numbered[1] if numbered else room_name
    return kind if kind in kinds else ""


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
