"""Where things of a kind usually are: what one site teaches, and what counts of other sites make likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.scene import SceneEvent, SceneObject
from memory_node.domain.states import ObjectState, door_of
from memory_node.scene_graph.graph_readings import GraphReadings
from memory_node.scene_graph.state import ROBOT_ID

PLACE_CENSUS = "place_census"  # the store's kind of a site's census

# Smoothing: this many finds of a class weigh as much as the prior for all things; this many looks at a kind of
# furniture in a kind of room weigh as much as its counts in all rooms.
_GENERAL_FINDS = 2.0
_GENERAL_LOOKS = 3.0
# Share of things that lie in the open; the others are in closed furniture.
_OPEN_SHARE = 0.75
_USUAL_FOOTPRINT_M2 = 0.3

Looks = Mapping[tuple[str, str], int]  # (kind of furniture, kind of room) -> how many were looked at or into
Finds = Mapping[tuple[str, str, str], int]  # (class, kind of furniture, kind of room) -> how many were found there


@dataclass(frozen=True)
class PlaceCensus:
    """What one site taught. All names are folded (catalogue.class_name)."""

    looks: Looks = field(default_factory=dict)
    finds: Finds = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as the store keeps it."""
        return {
            "looks": [[*key, count] for key, count in sorted(self.looks.items())],
            "finds": [[*key, count] for key, count in sorted(self.finds.items())],
        }

    @classmethod
    def together(cls, censuses: Iterable[PlaceCensus]) -> PlaceCensus:
        """Return the counts of several sites as one."""
        looks: Counter[tuple[str, str]] = Counter()
        finds: Counter[tuple[str, str, str]] = Counter()
        for census in censuses:
            looks.update(census.looks)
            finds.update(census.finds)
        return cls(dict(looks), dict(finds))

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> PlaceCensus:
        """Return the census that `as_dict` gave.

        Raises:
            InvalidValueError: the values are no census.
        """
        try:
            looks = {(str(place), str(room)): int(count) for place, room, count in body["looks"]}
            finds = {(str(name), str(at), str(room)): int(count) for name, at, room, count in body["finds"]}
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidValueError(f"place census: {error!r}") from error
        if any(count < 0 for count in (*looks.values(), *finds.values())):
            raise InvalidValueError("place census: expected counts of 0 and more")
        return cls(looks, finds)


class PlaceHabits:
    """Counts of any number of sites, and what they make likely at another one; not thread-safe.

    kinds: the prior of places without counts. informed: with False all furniture has the same prior, so that only
    counts matter.
    """

    def __init__(self, kinds: ObjectCatalogue, informed: bool = True) -> None:
        self._kinds = kinds
        self._informed = informed
        self._looks: Counter[tuple[str, str]] = Counter()
        self._finds: Counter[tuple[str, str, str]] = Counter()
        self._finds_of: Counter[str] = Counter()  # by class
        self._finds_at: Counter[str] = Counter()  # by kind of furniture

    def add(self, census: PlaceCensus) -> None:
        """Take over what a site taught."""
        for (place, room), count in census.looks.items():
            self._looks[place, room] += count
            self._looks[place, ""] += count if room else 0
        for (name, place, room), count in census.finds.items():
            self._finds[name, place, room] += count
            self._finds[name, place, ""] += count if room else 0
            self._finds_of[name] += count
            self._finds_at[place] += count

    def expected(
        self,
        object_class: str,
        places: Mapping[str, str],
        room_kind: str = "",
        likeness: Mapping[str, float] = MappingProxyType({}),
    ) -> dict[str, float]:
        """Return how many things of a class are expected on or in each piece of furniture of a site.

        places: the class of each piece of furniture by its id. room_kind: of the room that they are in, "" for unknown.
        likeness: by the same ids how much else speaks for each place, 1 by default; what was counted outweighs it.
        """
        name, room = folded(object_class), folded(room_kind)
        unlearnt = self._unlearnt(object_class, places, likeness)
        return {key: self._rate(name, folded(kind), room, unlearnt[key]) for key, kind in places.items()}

    def effort(self, place_class: str) -> float:
        """Return how much work a look at a kind of furniture takes: what closes has to be opened, too."""
        return 2.0 if self._kinds[place_class].lidded else 1.0

    def _rate(self, name: str, place: str, room: str, unlearnt: float) -> float:
        looks, of_class = self._looks[place, ""], self._finds_of[name]
        kinds_of_things = max(len(self._finds_of), 1)
        general = (self._finds_at[place] / kinds_of_things + unlearnt) / (looks + 1.0)
        trusted = of_class / (of_class + _GENERAL_FINDS)
        anywhere = (self._finds[name, place, ""] + general) / (looks + 1.0)
        rate = trusted * anywhere + (1.0 - trusted) * general
        if not room:
            return rate
        return (self._finds[name, place, room] + _GENERAL_LOOKS * rate) / (self._looks[place, room] + _GENERAL_LOOKS)

    def _unlearnt(
        self, object_class: str, places: Mapping[str, str], likeness: Mapping[str, float]
    ) -> dict[str, float]:
        """Return what the label space makes likely: more on wider furniture, and in what usually hides such things.
        They sum to one thing."""
        if not self._informed:
            return {key: likeness.get(key, 1.0) / len(places) for key in places}
        hiding = self._kinds.hiding_shares(object_class)
        kinds = {key: self._kinds[name] for key, name in places.items()}
        closing = Counter(kind.name for kind in kinds.values() if kind.lidded)
        weights: dict[str, float] = {}
        for key, kind in kinds.items():
            width = kind.size_m[0] * kind.size_m[1] if kind.size_m is not None else _USUAL_FOOTPRINT_M2
            weight = hiding.get(kind.name, 0.0) / closing[kind.name] if kind.lidded else width
            weights[key] = weight * likeness.get(key, 1.0)
        totals = {lidded: sum(weights[key] for key in kinds if kinds[key].lidded is lidded) for lidded in (True, False)}
        shares = {True: 1.0 - _OPEN_SHARE, False: _OPEN_SHARE}
        return {
            key: shares[kind.lidded] * weights[key] / totals[kind.lidded] if totals[kind.lidded] else 0.0
            for key, kind in kinds.items()
        }


class PlaceWatch:
    """Where each thing of one site was before anybody moved it; who uses it holds the graph's lock."""

    def __init__(self, scene: GraphReadings) -> None:
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
            room_id = self._scene.places.areas[found.area_id].room_id
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
