"""Watches a scene graph and counts where things of each kind were first found, and what was looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memory_node.catalogue.class_name import folded
from memory_node.domain.scene import SceneEvent, SceneObject
from memory_node.domain.states import ObjectState, door_of
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.scene_graph.state import ROBOT_ID


class PlaceWatch:
    """Where each thing of one site was before anybody moved it; who uses it holds the graph's lock."""

    def __init__(self, scene: SceneGraph) -> None:
        self._scene = scene
        self._first: dict[str, tuple[str, str]] = {}  # a thing's id -> its class, and the id of what it was on or in
        self._moved: set[str] = set()
        self._opened: set[str] = set()

    def note(self, events: Iterable[SceneEvent]) -> None:
        """Take in what changed."""
        for event in events:
            found = event.object
            if door_of(found.states) is ObjectState.OPENED:
                self._opened.add(found.id)
            if found.support_id == ROBOT_ID:
                self._moved.add(found.id)
            elif found.support_id and found.movable and found.id not in self._moved:
                self._first.setdefault(found.id, (found.class_name, found.support_id))

    def census(self) -> PlaceCensus:
        """Return what the site has taught: furniture counts where it was in view, and open if it closes."""
        furniture = self._looked_at()
        rooms = self._scene.room_kinds()
        looks: Counter[tuple[str, str]] = Counter()
        finds: Counter[tuple[str, str, str]] = Counter()
        keys = {}
        for found in furniture:
            room_id = self._room_id(found.area_id)
            keys[found.id] = folded(found.class_name), folded(rooms.get(room_id, ""))
            looks[keys[found.id]] += 1
        for name, support_id in self._first.values():
            if support_id in keys:
                place, room = keys[support_id]
                finds[folded(name), place, room] += 1
        return PlaceCensus(dict(looks), dict(finds))

    def _looked_at(self) -> list[SceneObject]:
        areas, kinds = self._scene.places.areas, self._scene.state.catalogue
        seen = []
        for found in self._scene.objects():
            kind = kinds[found.class_name]
            in_view = found.area_id in areas and areas[found.area_id].last_viewed_ns > 0
            if kind.is_receptacle and not kind.pickupable and in_view and (found.id in self._opened or not kind.lidded):
                seen.append(found)
        return seen

    def _room_id(self, area_id: str) -> str:
        area = self._scene.places.areas.get(area_id)
        return area.room_id if area is not None else ""
