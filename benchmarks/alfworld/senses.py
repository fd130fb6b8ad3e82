"""What a robot in a text game has read: things, doors, the plots of places in the graph, and what memory is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.alfworld.sentences import Sight, label_of
from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.names import singular
from memory_node.domain.observation import Frame
from memory_node.domain.skill import ObjectReference, StateChange
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.free_space import OccupancyMap

# A plot is one area of the scene graph: things of one place lie on it, a metre apart, so that they are told apart.
PLOT_M = 10.0
_CELLS = 8  # of a plot's side
_SLOT_M = 1.0
_SLOTS = 7  # of a plot's side
_MARGIN_CELLS = 2  # around all plots: at the edge of a map the robot cannot stand
_HEIGHT_M = 0.5
_BESIDE_M = 3.0  # from there the robot looks at a place
_PIXELS = 100


@dataclass(frozen=True)
class Site:
    """The plots of a game's places, row by row. places: their names in the order of the plots. in_a_row: so many, so
    that plots stay where they are when more are added; 0 for about as many as there are rows."""

    places: tuple[str, ...]
    in_a_row: int = 0

    @property
    def _columns(self) -> int:
        return self.in_a_row or max(1, math.ceil(math.sqrt(len(self.places))))

    def position(self, place: str) -> tuple[float, float, float]:
        """Return where a place stands, (x, y, z) in map, m."""
        row, column = divmod(self.places.index(place), self._columns)
        return ((column + 0.5) * PLOT_M, (row + 0.5) * PLOT_M, _HEIGHT_M)

    def slot(self, place: str, number: int) -> tuple[float, float, float]:
        """Return where the thing of a number lies at a place, (x, y, z) in map, m; a full plot goes on above itself."""
        x, y, z = self.position(place)
        layer, within = divmod(number, _SLOTS * _SLOTS)
        row, column = divmod(within, _SLOTS)
        middle = (_SLOTS - 1) / 2
        return (x + (column - middle) * _SLOT_M, y + (row - middle) * _SLOT_M, z + (layer + 0.5) * _SLOT_M)

    def place_near(self, x_m: float, y_m: float) -> str:
        """Return the place on whose plot a point lies, or the nearest one; "" where there are none."""
        return min(self.places, key=lambda name: math.dist(self.position(name)[:2], (x_m, y_m)), default="")

    def map(self) -> OccupancyMap:
        """Return the free floor of all plots; every plot with a place becomes one area."""
        rows = -(-len(self.places) // self._columns)
        cells = np.full((rows * _CELLS + 2 * _MARGIN_CELLS, self._columns * _CELLS + 2 * _MARGIN_CELLS), -1, np.int8)
        cell_m = PLOT_M / _CELLS
        for number in range(len(self.places)):
            row, column = divmod(number, self._columns)
            top, left = row * _CELLS + _MARGIN_CELLS, column * _CELLS + _MARGIN_CELLS
            cells[top : top + _CELLS, left : left + _CELLS] = 0
        corner = -_MARGIN_CELLS * cell_m
        return OccupancyMap(cells, cell_m, Pose.planar(corner, corner, 0.0))

    def look_at(self, place: str, stamp_ns: int) -> Frame:
        """Return the look at a place, and at nothing else, that tells memory that it was looked at."""
        x, y, z = self.position(place)
        # z of the camera's frame points along the map's y, x along the map's x.
        map_T_camera = np.eye(4)
        map_T_camera[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
        map_T_camera[:3, 3] = [x, y - _BESIDE_M, z]
        eye = Intrinsics(_PIXELS, _PIXELS, _PIXELS / 2, _PIXELS / 2, _PIXELS, _PIXELS)
        return Frame(stamp_ns, Pose.from_matrix(map_T_camera), eye, (), complete=False)


def site_of(places: Sequence[str]) -> Site:
    """Return the site of some places, in an order that does not depend on how the text lists them."""
    return Site(tuple(sorted(dict.fromkeys(places))))


_SAME_SPOT_M = 0.75
# A name that more classes answer to is generic, unless people mean one of them by it: "bottle", but not "cup".
_GENERIC = 2


@dataclass(frozen=True)
class Thing:
    """One name of the text. classes: what the label may mean, best first. place: where it is, its own name for a place,
    "" in the hand."""

    name: str
    classes: tuple[str, ...]
    place: str
    position: tuple[float, float, float]

    @property
    def object_class(self) -> str:
        """The class that it is reported as."""
        return self.classes[0]

    @property
    def is_place(self) -> bool:
        """Whether one goes to it by its own name."""
        return self.place == self.name

    def may_be(self, object_class: str) -> bool:
        """Return whether it may be of a class, however that is spelt."""
        return folded(object_class) in map(folded, self.classes)


def classes_of(name: str, kinds: ObjectCatalogue) -> tuple[str, ...]:
    """Return the classes that a name of the text may mean, best first; a label that nobody knows is its own class, in
    the singular, as people's words are read."""
    label = label_of(name)
    known, answering = kinds.find(label), kinds.spoken_names.answering(label)
    if known is not None and (known.everyday or len(answering) <= _GENERIC):
        return (known.name,)
    return answering or (" ".join(map(singular, label.split())),)


@dataclass
class Things:
    """The things by name; `used` counts the slots given out at each place."""

    kinds: ObjectCatalogue
    site: Site
    by_name: dict[str, Thing] = field(default_factory=dict)
    _used: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place in self.site.places:
            classes = classes_of(place, self.kinds)
            self.by_name[place] = Thing(place, classes, place, self.site.position(place))

    def put(self, name: str, place: str) -> Thing:
        """Return a thing after it was seen or put at a place, "" for the hand."""
        known = self.by_name.get(name)
        classes = known.classes if known is not None else classes_of(name, self.kinds)
        position = known.position if known is not None else (0.0, 0.0, 0.0)
        if place:
            number = self._used.get(place, 0)
            self._used[place] = number + 1
            position = self.site.slot(place, number)
        thing = self.by_name[name] = Thing(name, classes, place, position)
        return thing

    def at(self, place: str) -> list[Thing]:
        """Return the things that lie at a place."""
        return [thing for thing in self.by_name.values() if thing.place == place and not thing.is_place]

    def of_class(self, object_class: str) -> list[Thing]:
        """Return the things that may be of a class."""
        return [thing for thing in self.by_name.values() if thing.may_be(object_class)]

    def meant(self, text: str) -> Thing | None:
        """Return the thing that an argument of a skill means: a name, a class, or a class at a position; None for none.

        Of several of a class the one at the position counts; without a position any does.
        """
        if text in self.by_name:
            return self.by_name[text]
        try:
            reference = ObjectReference.parse(text)
        except InvalidValueError:
            return None
        candidates = self.of_class(reference.object_class)
        position = reference.position
        if position is None:
            return candidates[0] if candidates else None
        near = [(math.dist(thing.position, position), thing.name) for thing in candidates]
        distance, name = min(near, default=(math.inf, ""))
        return self.by_name[name] if distance <= _SAME_SPOT_M else None


_S = ObjectState
_SOURCE = "text"


class TextSenses:
    """Takes in replies of the engine.

    on_look: is called with each look at a place, so that memory knows what was looked at.

    Attributes:
        things: what was read of, by name.
        seen: the places whose contents were read.
        at, held: the place at which the robot stands, and what the hand holds; "" for none.
        changes: what memory has not been told yet.
    """

    def __init__(self, site: Site, kinds: ObjectCatalogue, clock: Clock, on_look: Callable[[Frame], object]) -> None:
        self.things = Things(kinds, site)
        self.seen: set[str] = set()
        self.at = self.held = ""
        self.changes: list[StateChange] = []
        self._site = site
        self._kinds = kinds
        self._clock = clock
        self._on_look = on_look
        self._doors: dict[str, bool] = {}

    def is_shut(self, place: str) -> bool:
        """Return whether a place is known to be closed; what shows its contents without a door is not."""
        return not self._doors.get(place, True)

    def class_of(self, name: str) -> str:
        """Return the class that a thing is reported as."""
        return self.things.by_name[name].object_class

    def take_in(self, sight: Sight) -> None:
        """Note what a reply tells."""
        for place, opened in sight.doors.items():
            if place in self.things.by_name:
                self.note_door(place, opened)
        for place, names in sight.contents.items():
            known = self.things.by_name.get(place)
            if known is None or not known.is_place:
                continue
            if place not in sight.doors and self._kinds[known.object_class].lidded:
                self.report(known, added=(_S.OPENED,), removed=(_S.CLOSED,))
            for name in names:
                seen = self.things.by_name.get(name)
                if name != self.held and (seen is None or seen.place != place):
                    self.changes.append(self.sighting(self.things.put(name, place)))
            self.seen.add(place)
            self._on_look(self._site.look_at(place, self._clock()))

    def note_door(self, place: str, opened: bool) -> None:
        """Note that a place stands open, or does not."""
        if self._doors.get(place) is not opened:
            self._doors[place] = opened
            gained, lost = (_S.OPENED, _S.CLOSED) if opened else (_S.CLOSED, _S.OPENED)
            self.report(self.things.by_name[place], added=(gained,), removed=(lost,))

    def sighting(self, thing: Thing) -> StateChange:
        """Return that a thing was seen where it is."""
        support = "" if thing.is_place else thing.place
        return StateChange(
            thing.name,
            thing.object_class,
            self._clock(),
            support_id=support,
            inside=bool(support) and self._kinds[self.class_of(support)].holds_inside,
            position=thing.position,
            source=_SOURCE,
        )

    def report(
        self,
        thing: Thing,
        added: tuple[ObjectState, ...] = (),
        removed: tuple[ObjectState, ...] = (),
        held: bool | None = None,
        support: str = "",
    ) -> None:
        """Note a change that was made; held: whether it is in the hand now, None for no change of that."""
        inside = bool(support) and self._kinds[self.class_of(support)].holds_inside
        self.changes.append(
            StateChange(
                thing.name,
                thing.object_class,
                self._clock(),
                added,
                removed,
                held,
                support,
                inside,
                thing.position if support else None,
                source=_SOURCE,
            )
        )
