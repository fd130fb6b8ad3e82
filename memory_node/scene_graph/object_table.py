"""The objects of the graph, column by column: what every frame computes with lies in arrays, the rest in slim
records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import folded
from memory_node.domain.errors import NotFoundError
from memory_node.domain.scene import Place
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.world.state import ThingNames

Rows = NDArray[np.intp]
# Known states, each with whether its probability is above one half.
StateSet = tuple[tuple[ObjectState, bool], ...]
_Value = TypeVar("_Value", str, StateSet)
MAX_YAW_WEIGHT = 20.0

_ANCHORS_KEPT = 8


@dataclass(slots=True)
class ObjectRecord:
    """What an object carries besides its row of numbers. best_class, area_id and states are set through the table,
    which has columns for them.

    anchors: the keyframes from which it was seen, each with its share in its position; SLAM's corrections use them.
    put_at: its centre (m) when a skill put it on or in its support, see support_surfaces.py.
    """

    id: str
    classes: dict[str, float]
    best_class: str
    area_id: str = ""
    support_id: str = ""
    inside: bool = False
    movable: bool = True
    anchors: tuple[tuple[str, float], ...] = ()
    states: tuple[StateBelief, ...] = ()
    embedding: NDArray[np.float16] | None = None
    crop_jpeg: bytes = b""
    crop_pixels: int = 0
    history: tuple[Place, ...] = ()
    provenance: str = "camera"
    attributes: dict[str, Any] | None = None
    rival: str = ""
    rival_count: int = 0
    name: str = ""
    aliases: tuple[str, ...] = ()
    put_at: tuple[float, float, float] | None = None

    def copied(self) -> ObjectRecord:
        """Return a copy of its own; of what it holds the weights of classes alone are changed in place."""
        return replace(self, classes=dict(self.classes))

    def note_anchor(self, keyframe: str, share: float) -> None:
        """Note the keyframe from which it was seen, "" for none; share: the part of its position that comes from it."""
        if not keyframe:
            return
        if not self.anchors:
            share = 1.0
        weights = {name: (1.0 - share) * weight for name, weight in self.anchors if share < 1.0}
        weights[keyframe] = weights.get(keyframe, 0.0) + share
        if len(weights) > _ANCHORS_KEPT:
            # The anchor with the least share is dropped; its share goes to the neighbouring keyframe.
            least = min(weights, key=lambda name: weights[name])
            names = list(weights)
            at = names.index(least)
            weights[names[at - 1 if at else 1]] += weights.pop(least)
        self.anchors = tuple(weights.items())


def _entry(dtype: type[np.generic], *shape: int) -> dict[str, Any]:
    """Return the metadata of a column: the type and the shape of one entry."""
    return {"entry": (dtype, shape)}


@dataclass
class ObjectTable:
    """A growing table of objects; a row keeps its number while the object lives, freed rows are used again.

    class_code, area_code and state_code: index of the row's class in `class_names`, of its area in `area_ids` and of
    what is told of its states in `state_sets`, by which a query compares all objects at once; class_share: probability
    of that class. face_variance: of the lower and upper face along the box's own x, y, z. times_missed and last_missed:
    of looks in vain since it was last seen. alive: the row is in use.
    """

    center: NDArray[np.float64] = field(init=False, metadata=_entry(np.float64, 3))
    size: NDArray[np.float64] = field(init=False, metadata=_entry(np.float64, 3))
    yaw: NDArray[np.float32] = field(init=False, metadata=_entry(np.float32))
    yaw_weight: NDArray[np.float32] = field(init=False, metadata=_entry(np.float32))
    face_variance: NDArray[np.float32] = field(init=False, metadata=_entry(np.float32, 2, 3))
    log_odds: NDArray[np.float32] = field(init=False, metadata=_entry(np.float32))
    porosity: NDArray[np.float32] = field(init=False, metadata=_entry(np.float32))
    first_seen: NDArray[np.int64] = field(init=False, metadata=_entry(np.int64))
    last_seen: NDArray[np.int64] = field(init=False, metadata=_entry(np.int64))
    last_missed: NDArray[np.int64] = field(init=False, metadata=_entry(np.int64))
    place_since: NDArray[np.int64] = field(init=False, metadata=_entry(np.int64))
    times_seen: NDArray[np.int32] = field(init=False, metadata=_entry(np.int32))
    times_missed: NDArray[np.int32] = field(init=False, metadata=_entry(np.int32))
    removed: NDArray[np.bool_] = field(init=False, metadata=_entry(np.bool_))
    sheltered: NDArray[np.bool_] = field(init=False, metadata=_entry(np.bool_))
    alive: NDArray[np.bool_] = field(init=False, metadata=_entry(np.bool_))
    class_code: NDArray[np.int32] = field(init=False, metadata=_entry(np.int32))
    class_share: NDArray[np.float32] = field(init=False, metadata=_entry(np.float32))
    area_code: NDArray[np.int32] = field(init=False, metadata=_entry(np.int32))
    state_code: NDArray[np.int32] = field(init=False, metadata=_entry(np.int32))
    class_names: list[str] = field(default_factory=list)
    area_ids: list[str] = field(default_factory=list)
    state_sets: list[StateSet] = field(default_factory=list)
    records: list[ObjectRecord | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.row_of: dict[str, int] = {}
        self._free: list[int] = []
        self._code_of_class: dict[str, int] = {}
        self._codes_spelt: dict[str, list[int]] = {}
        self.names = ThingNames()
        self._code_of_area: dict[str, int] = {}
        self._code_of_states: dict[StateSet, int] = {}
        self._capacity = 0
        self._grow(64)

    def __len__(self) -> int:
        return len(self.row_of)

    def _grow(self, capacity: int) -> None:
        for name, (dtype, shape) in _COLUMNS.items():
            column = np.zeros((capacity, *shape), dtype)
            if self._capacity:
                column[: self._capacity] = getattr(self, name)
            setattr(self, name, column)
        self._capacity = capacity

    def add(self, record: ObjectRecord) -> int:
        """Take a record in and return its row, all numbers zero."""
        if self._free:
            row = self._free.pop()
            self.records[row] = record
            for name in _COLUMNS:
                getattr(self, name)[row] = 0
        else:
            row = len(self.records)
            self.records.append(record)
            if row == self._capacity:
                self._grow(2 * self._capacity)
        self.row_of[record.id] = row
        self._name(record)
        self.alive[row] = True
        self.set_class(row, record.best_class)
        self.set_area(row, record.area_id)
        self.set_states(row, record.states)
        return row

    def _name(self, record: ObjectRecord) -> None:
        """Give a record a name, or keep the one that it has. Where two robots gave one name, the older thing has it."""
        holder = self.names.id_of(record.name) if record.name else ""
        if holder not in ("", record.id):
            if record.id < holder and holder in self.row_of:
                other = self.record(self.row_of[holder])
                self.names.drop(holder, (record.name,))
                other.name = self.names.give(holder, other.best_class)
            else:
                record.name = ""
        record.name = record.name or self.names.give(record.id, record.best_class)
        self.names.take(record.id, (record.name, *record.aliases))

    def id_of(self, reference: str) -> str:
        """Return the id that an id or a name stands for, "" for none."""
        return reference if reference in self.row_of else self.names.id_of(reference)

    def copied_columns(self) -> dict[str, NDArray[Any]]:
        """Return a copy of all columns, for `set_row` of the same table later."""
        return {name: getattr(self, name).copy() for name in _COLUMNS}

    def set_row(self, row: int, columns: Mapping[str, NDArray[Any]], as_row: int) -> None:
        """Set the numbers of a living row to those of a row of copied columns."""
        for name, column in columns.items():
            getattr(self, name)[row] = column[as_row]

    def set_class(self, row: int, name: str) -> None:
        """Set the most probable class of a living row, whose record has the weights of all classes."""
        record = self.record(row)
        record.best_class = name
        self.class_code[row] = self.code_of_class(name)
        self.class_share[row] = record.classes.get(name, 0.0) / max(sum(record.classes.values()), 1e-9)

    def note_seen(self, rows: Rows | int, stamp_ns: int) -> None:
        """Note that rows were seen at a stamp; what was missed before counts no more."""
        self.last_seen[rows] = stamp_ns
        self.last_missed[rows] = self.times_missed[rows] = 0

    def note_missed(self, rows: Rows | int, stamp_ns: int) -> None:
        """Note that rows were looked for in vain at a stamp."""
        self.last_missed[rows] = stamp_ns
        self.times_missed[rows] += 1

    def set_area(self, row: int, area_id: str) -> None:
        """Set the area that a living row is in, empty when none is known."""
        self.record(row).area_id = area_id
        self.area_code[row] = self.code_of_area(area_id)

    def set_states(self, row: int, states: tuple[StateBelief, ...]) -> None:
        """Set what is believed of the states of a living row."""
        self.record(row).states = states
        told = tuple((belief.state, belief.probability >= 0.5) for belief in states)
        self.state_code[row] = _code(told, self._code_of_states, self.state_sets)

    def code_of_class(self, name: str) -> int:
        """Return the number that stands for a class in `class_code`."""
        if name not in self._code_of_class:
            self._codes_spelt.setdefault(folded(name), []).append(len(self.class_names))
        return _code(name, self._code_of_class, self.class_names)

    def is_of_class(self, rows: Rows, name: str) -> NDArray[np.bool_]:
        """Return which rows (n,) are of a class, however it is spelt."""
        return np.isin(self.class_code[rows], self._codes_spelt.get(folded(name), []))

    def code_of_area(self, area_id: str) -> int:
        """Return the number that stands for an area in `area_code`."""
        return _code(area_id, self._code_of_area, self.area_ids)

    def drop(self, row: int) -> None:
        """Forget a row wholly."""
        record = self.record(row)
        del self.row_of[record.id]
        self.names.drop(record.id, (record.name, *record.aliases))
        self.records[row] = None
        self.alive[row] = False
        self._free.append(row)

    def record(self, row: int) -> ObjectRecord:
        """Return the record of a living row."""
        record = self.records[row]
        if record is None:
            raise NotFoundError(f"row {row} holds no object")
        return record

    def row(self, object_id: str) -> int:
        """Return the row of an object, by its id or name.

        Raises:
            NotFoundError: no object has this id or name.
        """
        try:
            return self.row_of[self.id_of(object_id)]
        except KeyError:
            raise NotFoundError(f"no object {object_id!r} in the scene graph") from None

    def rows(self) -> Iterator[int]:
        """Yield the rows of all objects in order of their birth in the table, removed ones included."""
        return iter(self.row_of.values())

    def among(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for every row of the table, so that it can be indexed by rows, whether it is one of `rows`."""
        chosen = np.zeros(self._capacity, np.bool_)
        chosen[rows] = True
        return chosen

    def mostly_truncated(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which rows were seen in part more often than whole (part counts a tenth in yaw_weight)."""
        return np.asarray(self.yaw_weight[rows] < 0.5 * np.minimum(self.times_seen[rows], MAX_YAW_WEIGHT))

    def covariances(self, rows: Rows) -> NDArray[np.float64]:
        """Return the covariances (n, 3, 3) of the centres of rows in map."""
        along = 0.25 * self.face_variance[rows].sum(axis=1).astype(np.float64)
        yaw = self.yaw[rows].astype(np.float64)
        rotation = np.zeros((len(rows), 3, 3))
        rotation[:, 0, 0] = rotation[:, 1, 1] = np.cos(yaw)
        rotation[:, 1, 0] = np.sin(yaw)
        rotation[:, 0, 1] = -rotation[:, 1, 0]
        rotation[:, 2, 2] = 1.0
        return np.asarray((rotation * along[:, None]) @ rotation.transpose(0, 2, 1))


def footprints(size: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the areas (...,) on the ground of boxes of size (..., 2 or more): a reduction over so short an axis takes
    three times as long."""
    return size[..., 0] * size[..., 1]


def volumes(size: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the volumes (...,) of boxes of size (..., 3), see `footprints`."""
    return footprints(size) * size[..., 2]


_COLUMNS = {one.name: one.metadata["entry"] for one in fields(ObjectTable) if "entry" in one.metadata}


def _code(value: _Value, code_of: dict[_Value, int], values: list[_Value]) -> int:
    code = code_of.setdefault(value, len(values))
    if code == len(values):
        values.append(value)
    return code
