"""What the parts of the scene graph work on together: the objects with their indexes, sizes and ids."""

from __future__ import annotations

import hashlib
import math
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.scene import Place, SceneEvent, SceneEventKind, SceneObject
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectTable, Rows

Cell = tuple[int, int]


class GridIndex:
    """Rows by the cell of their centre (x, y); all operations cost as much as what they touch, not as the whole."""

    def __init__(self, cell_m: float = 1.0) -> None:
        self._cell_m = cell_m
        self._rows_in: dict[Cell, set[int]] = {}
        self._cell_of: dict[int, Cell] = {}

    def __contains__(self, row: int) -> bool:
        return row in self._cell_of

    def put(self, row: int, x_m: float, y_m: float) -> None:
        """Enter a row, or move it."""
        cell = (math.floor(x_m / self._cell_m), math.floor(y_m / self._cell_m))
        old = self._cell_of.get(row)
        if old == cell:
            return
        if old is not None:
            self._leave(row, old)
        self._rows_in.setdefault(cell, set()).add(row)
        self._cell_of[row] = cell

    def take(self, row: int) -> None:
        """Remove a row; one that is not there is left alone."""
        cell = self._cell_of.pop(row, None)
        if cell is not None:
            self._leave(row, cell)

    def _leave(self, row: int, cell: Cell) -> None:
        rows = self._rows_in[cell]
        rows.discard(row)
        if not rows:
            del self._rows_in[cell]

    def within(self, low: tuple[float, float], high: tuple[float, float]) -> Rows:
        """Return the rows of all cells that touch the rectangle, ascending (so that replays agree)."""
        (x_0, y_0), (x_1, y_1) = ([math.floor(side / self._cell_m) for side in corner] for corner in (low, high))
        found: list[int] = []
        if (x_1 - x_0 + 1) * (y_1 - y_0 + 1) > len(self._rows_in):
            for (x, y), rows in self._rows_in.items():
                if x_0 <= x <= x_1 and y_0 <= y <= y_1:
                    found.extend(rows)
        else:
            for x in range(x_0, x_1 + 1):
                for y in range(y_0, y_1 + 1):
                    found.extend(self._rows_in.get((x, y), ()))
        return np.sort(np.array(found, dtype=np.intp))


# Objects needed before a class's size is known, and the least spread that is assumed (log of the ratio).
_ENOUGH = 5
_LEAST_SPREAD = 0.12
_LEAST_FIT = 0.15
_FAR = 2.0
# A side shorter by this many spreads belongs to a part of a thing.
_PART = 3.0


@dataclass
class _Sizes:
    """Statistics of the logarithms of one class's sorted sides: number of things, mean, Welford's sum, spread."""

    count: int = 0
    mean: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    squares: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    spread: list[float] = field(default_factory=lambda: [_LEAST_SPREAD] * 3)

    def learn(self, sides: list[float]) -> None:
        self.count += 1
        for axis, side in enumerate(sides):
            step = side - self.mean[axis]
            if self.count > _ENOUGH:
                # Among many there are always some with a wrong name or half a box.
                most = _FAR * self.spread[axis]
                step = min(most, max(-most, step))
            self.mean[axis] += step / self.count
            self.squares[axis] += step * (step - step / self.count)
            self.spread[axis] = max(_LEAST_SPREAD, math.sqrt(self.squares[axis] / self.count))

    def away(self, sides: list[float]) -> list[float]:
        """Return by how many spreads each side is longer than usual."""
        return [(side - mean) / spread for side, mean, spread in zip(sides, self.mean, self.spread)]


class ClassSizes:
    """The usual sizes of each class. Plain numbers are faster here than arrays, because each call is about one
    thing."""

    def __init__(self) -> None:
        self._of: dict[str, _Sizes] = {}

    def learn(self, name: str, size: FloatArray) -> None:
        """Take in a thing of a class; size (3,) in metres."""
        self._of.setdefault(name, _Sizes()).learn(_sides(size))

    def fit(self, name: str, size: FloatArray, whole: bool) -> float:
        """Return how well a size (3,) suits a class, in [0.15, 1]; 1 while too little is known.

        whole: False for a thing of which a part was seen, which can only be too large.
        """
        known = self._known(name)
        if known is None:
            return 1.0
        away = known.away(_sides(size))
        excess = [max(0.0, (abs(a) if whole else a) - _FAR) for a in away]
        return max(_LEAST_FIT, math.exp(-0.5 * sum(e * e for e in excess)))

    def may_be(self, name: str, size: FloatArray, whole: bool = True) -> bool:
        """Return whether a thing of a size (3,), or of which a part of that size was seen, may be of a class."""
        return self.fit(name, size, whole) > _LEAST_FIT

    def is_part(self, name: str, size: FloatArray) -> bool:
        """Return whether a size (3,) is so far below the class's usual size that only a part of a thing was seen."""
        known = self._known(name)
        return known is not None and min(known.away(_sides(size))) < -_PART

    def _known(self, name: str) -> _Sizes | None:
        known = self._of.get(name)
        return known if known is not None and known.count >= _ENOUGH else None


def _sides(size: FloatArray) -> list[float]:
    return [math.log(max(side, 1e-3)) for side in sorted(size.tolist())]


class StampIds:
    """Makes UUIDv7 text (RFC 9562) from a stamp, a running number and a seed such as the robot's id."""

    def __init__(self, seed: str = "") -> None:
        self._seed = seed
        self._count = 0

    def __call__(self, stamp_ns: int) -> str:
        """Return the next id for something born at `stamp_ns`."""
        self._count += 1
        digest = hashlib.blake2b(f"{self._seed}/{stamp_ns}/{self._count}".encode(), digest_size=10).digest()
        value = (max(0, stamp_ns) // 1_000_000 & (1 << 48) - 1) << 80 | int.from_bytes(digest, "big")
        value = value & ~(0xF << 76) | 0x7 << 76  # version 7
        value = value & ~(0x3 << 62) | 0x2 << 62  # RFC variant
        return str(uuid.UUID(int=value))


ROBOT_ID = "robot"
# An object whose faces are known this well has been seen whole.
_WHOLE_SIGMA_M = 0.05


class AreaLookup(Protocol):
    """Tells the area of a place."""

    def area_at(self, x_m: float, y_m: float, z_m: float, seen_from: tuple[float, float] | None) -> str:
        """Return the id of the area that a place belongs to, empty when the map does not say."""


@dataclass
class GraphState:
    """The objects with their indexes. Removed objects stay in the table, out of `index`.

    contents: what stands on or in each object. apart: neighbours that were seen in one frame and so are two things.
    tracks: the object of each track, by the track's name. seen_apart: views that showed an object as several things,
    minus views that showed it as one. catalogue: what is known of classes.
    """

    config: SceneGraphConfig
    make_id: Callable[[int], str]
    table: ObjectTable = field(default_factory=ObjectTable)
    index: GridIndex = field(default_factory=GridIndex)
    contents: dict[str, set[str]] = field(default_factory=dict)
    apart: dict[str, set[str]] = field(default_factory=dict)
    seen_apart: dict[str, float] = field(default_factory=dict)
    tracks: dict[str, str] = field(default_factory=dict)
    sizes: ClassSizes = field(default_factory=ClassSizes)
    counters: Counter[str] = field(default_factory=Counter)
    keyframes: dict[str, Pose] = field(default_factory=dict)
    places: AreaLookup | None = None
    catalogue: ObjectCatalogue = field(default_factory=load_catalogue)
    now_ns: int = 0
    version: int = 0

    def existence(self, row: int) -> float:
        """Return the probability that the object of a row still is where it is remembered."""
        return float(1.0 / (1.0 + np.exp(-float(self.table.log_odds[row]))))

    def box(self, row: int) -> OrientedBox:
        """Return the box of a row."""
        table = self.table
        return OrientedBox(table.center[row], table.size[row], float(table.yaw[row]))

    def object_at(self, row: int, covariance: FloatArray | None = None) -> SceneObject:
        """Return a row as the value that leaves the graph; covariance (3, 3): where it is known already."""
        table, record = self.table, self.table.record(row)
        if covariance is None:
            covariance = table.covariances(np.array([row]))[0]
        total = sum(record.classes.values())
        return SceneObject(
            id=record.id,
            # The best class first; of equal ones, also after rounding, the first counts.
            class_probabilities={
                name: record.classes[name] / total
                for name in sorted(record.classes, key=lambda name: name != record.best_class)
            },
            box=self.box(row),
            covariance=covariance,
            existence=self.existence(row),
            first_seen_ns=int(table.first_seen[row]),
            last_seen_ns=int(table.last_seen[row]),
            last_missed_ns=int(table.last_missed[row]),
            times_seen=int(table.times_seen[row]),
            times_missed=int(table.times_missed[row]),
            movable=record.movable,
            area_id=record.area_id,
            support_id=record.support_id,
            inside=record.inside,
            anchor=max(record.anchors, key=lambda anchor: anchor[1], default=("", 0.0))[0],
            removed=bool(table.removed[row]),
            states=record.states,
            embedding=None if record.embedding is None else record.embedding.astype(np.float32),
            crop_jpeg=record.crop_jpeg,
            history=record.history,
            provenance=record.provenance,
            attributes=dict(record.attributes or {}),
            name=record.name,
            aliases=record.aliases,
            placed_ns=int(table.place_since[row]),
        )

    def event(self, kind: SceneEventKind, row: int, into_id: str = "") -> SceneEvent:
        """Return what happened to a row, stamped now."""
        return SceneEvent(kind, self.now_ns, self.object_at(row), into_id)

    def active_rows(self) -> Rows:
        """Return the rows of all objects that are not removed, in the table's order."""
        rows = np.fromiter(self.table.rows(), dtype=np.intp, count=len(self.table))
        return rows[~self.table.removed[rows]]

    def rows_of_class(self, name: str) -> Rows:
        """Return the rows of a class, however it is spelt, removed ones included."""
        living = np.flatnonzero(self.table.alive)
        return living[self.table.is_of_class(living, name)]

    def may_move(self, name: str) -> bool:
        """Return whether things of a class may be elsewhere one day; what the catalogue does not know may."""
        kind = self.catalogue.find(name)
        return kind is None or not kind.can(Property.FIXED)

    def learn_size(self, row: int) -> None:
        """Use a row's size for the usual size of its class, if it was seen whole."""
        name = self.table.record(row).best_class
        if name != "object" and float(self.table.face_variance[row].max()) < _WHOLE_SIGMA_M**2:
            self.sizes.learn(name, self.table.size[row])

    def place(self, row: int) -> None:
        """Enter a row in the spatial index where it is now."""
        center = self.table.center[row]
        self.index.put(row, float(center[0]), float(center[1]))

    def locate(self, row: int, seen_from: tuple[float, float] | None) -> None:
        """Set the area of a row from its position."""
        if self.places is None:
            return
        x, y, z = self.table.center[row].tolist()
        found = self.places.area_at(x, y, z, seen_from)
        if found:
            self.table.set_area(row, found)

    def end_place(self, row: int) -> None:
        """Write where the object was until last seen into its history; its next place begins now."""
        record = self.table.record(row)
        ended = Place(
            int(self.table.place_since[row]),
            int(self.table.last_seen[row]),
            self.box(row),
            record.area_id,
            record.support_id,
        )
        record.history = (*record.history, ended)[-self.config.history_places :]
        self.table.place_since[row] = self.now_ns

    def mark_removed(self, row: int) -> None:
        """Take a row out of the present; it stays in history and may be found again."""
        self.end_place(row)
        self.table.removed[row] = True
        self.index.take(row)
        self.stand_on(row, "", False)

    def mark_present(self, row: int) -> None:
        """Take a removed row back into the present."""
        self.table.removed[row] = False
        self.place(row)

    def drop(self, row: int) -> None:
        """Forget a row wholly; what stood on it stands on nothing known."""
        record = self.table.record(row)
        self.mark_present(row)
        self.index.take(row)
        self.stand_on(row, "", False)
        for other in self.apart.pop(record.id, ()):
            self.apart[other].discard(record.id)
        self.unload(record.id)
        self.seen_apart.pop(record.id, None)
        self.table.drop(row)

    def unload(self, object_id: str) -> None:
        """Let what stood on or in an object stand on nothing known."""
        for child in sorted(self.contents.pop(object_id, ())):
            self.stand_on(self.table.row(child), "", False)

    def set_apart(self, row: int, other: int) -> None:
        """Note that two rows are two things."""
        one, two = self.table.record(row).id, self.table.record(other).id
        self.apart.setdefault(one, set()).add(two)
        self.apart.setdefault(two, set()).add(one)

    def are_apart(self, row: int, other: int) -> bool:
        """Return whether two rows are known to be two things."""
        return self.table.record(other).id in self.apart.get(self.table.record(row).id, ())

    def stand_on(self, row: int, support_id: str, inside: bool) -> None:
        """Set what an object stands on or in (empty: nothing known)."""
        record = self.table.record(row)
        if record.support_id != support_id:
            if record.support_id in self.contents:
                self.contents[record.support_id].discard(record.id)
            if support_id:
                self.contents.setdefault(support_id, set()).add(record.id)
            record.put_at = None
        record.support_id, record.inside = support_id, inside
        self.table.sheltered[row] = self._shelters(support_id, inside)

    def anchors_here(self) -> tuple[tuple[str, float], ...]:
        """Return the anchors of what is now told to lie somewhere: the keyframe that the robot is at."""
        newest = next(reversed(self.keyframes), "")
        return ((newest, 1.0),) if newest else ()

    def load_of(self, object_id: str) -> list[int]:
        """Return the rows of everything on or in an object, recursively; a support comes before its contents."""
        load: list[int] = []
        waiting, known = [object_id], {object_id}
        while waiting:
            for child in sorted(self.contents.get(waiting.pop(0), set()) - known):
                known.add(child)
                waiting.append(child)
                load.append(self.table.row(child))
        return load

    def refresh_shelter(self, container_id: str) -> None:
        """Update for everything in a container whether it is visible from outside."""
        for child in self.contents.get(container_id, ()):
            row = self.table.row(child)
            self.table.sheltered[row] = self._shelters(container_id, self.table.record(row).inside)

    def _shelters(self, support_id: str, inside: bool) -> bool:
        """Return whether not seeing the object is no evidence: the robot holds it, or its container is not known to be
        open."""
        if support_id == ROBOT_ID:
            return True
        if not inside or support_id not in self.table.row_of:
            return False
        container = self.table.record(self.table.row(support_id))
        believed = {belief.state: belief.probability for belief in container.states}
        if believed.get(ObjectState.OPENED, 0.0) >= 0.5:
            return False
        return believed.get(ObjectState.CLOSED, 0.0) >= 0.5 or self.catalogue[container.best_class].lidded
