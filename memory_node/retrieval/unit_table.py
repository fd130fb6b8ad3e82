"""The facts of the remembered units as columns, so that a request is compared with thousands of them at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.states import ObjectState

# Columns of the facts. A row that holds no unit has a class probability below 0.
CLASS_PROBABILITY, EXISTENCE, STAMP_NS, X_M, Y_M, Z_M, STATES, AREA = range(8)
_COLUMNS = 8
_BIT_OF = {state: 1 << index for index, state in enumerate(ObjectState)}


def state_bits(*states: ObjectState) -> int:
    """Return a set of states as bits."""
    return sum(_BIT_OF[state] for state in set(states))


@dataclass(frozen=True)
class Columns:
    """All rows as they were when asked for: facts (n, 8), class numbers (n,), and the units by row.

    Stamps are nanoseconds since `epoch_ns`: they are exact in a float64 over a hundred days.
    """

    facts: NDArray[np.float64]
    class_numbers: NDArray[np.int32]
    units: list[MemoryUnit | None]
    epoch_ns: int


class UnitTable:
    """Units by object id, each with a row of its own; rows of units that left are used again.

    One writer at a time; readers need no lock: arrays are replaced whole when they grow. What a reader picks, it must
    look at again in `units`, where each unit is whole.
    """

    def __init__(self) -> None:
        self._facts = np.full((64, _COLUMNS), -1.0)
        self._class_numbers = np.zeros(64, dtype=np.int32)
        self._units: list[MemoryUnit | None] = []
        self._row_of: dict[str, int] = {}
        self._free: list[int] = []
        self._area_numbers: dict[str, int] = {}
        self._rows_of_class: dict[int, _RowSet] = {}
        self._epoch_ns = 0

    def __len__(self) -> int:
        return len(self._row_of)

    def row_of(self, object_id: str) -> int | None:
        """Return the row of an object's unit, or None when there is none."""
        return self._row_of.get(object_id)

    def columns(self) -> Columns:
        """Return every row."""
        count = len(self._units)
        return Columns(self._facts[:count], self._class_numbers[:count], self._units, self._epoch_ns)

    def class_numbers(self) -> list[int]:
        """Return the numbers of the classes of which there are units."""
        return [number for number, rows in self._rows_of_class.copy().items() if len(rows)]

    def rows_of_class(self, class_number: int) -> NDArray[np.int64]:
        """Return the rows of the units of a class."""
        return self._rows_of_class[class_number].rows()

    def area_number(self, area_id: str) -> int:
        """Return the number of an area in the facts, -1 for one without units."""
        return self._area_numbers.get(area_id, -1)

    def put(self, unit: MemoryUnit, class_number: int) -> int:
        """Write a unit in place of the one of the same object; return its row."""
        if not self._row_of:
            self._epoch_ns = unit.stamp_ns
        row = self._row_of.get(unit.object_id)
        if row is None:
            row = self._new_row()
        else:
            self._rows_of_class[int(self._class_numbers[row])].discard(row)
        sliced = {ObjectState.SLICED} if "Sliced" in unit.object_class else set()
        self._facts[row] = (
            unit.class_probability,
            unit.existence,
            unit.stamp_ns - self._epoch_ns,
            *unit.position,
            state_bits(*sliced, *(belief.state for belief in unit.states if unit.has_state(belief.state))),
            self._area_numbers.setdefault(unit.area_id, len(self._area_numbers)),
        )
        self._class_numbers[row] = class_number
        self._units[row] = unit
        self._row_of[unit.object_id] = row
        self._rows_of_class.setdefault(class_number, _RowSet()).add(row)
        return row

    def remove(self, object_id: str) -> int | None:
        """Take an object's unit out; return the row that it had, or None when there was none."""
        row = self._row_of.pop(object_id, None)
        if row is not None:
            self._facts[row, CLASS_PROBABILITY] = -1.0
            self._rows_of_class[int(self._class_numbers[row])].discard(row)
            self._units[row] = None
            self._free.append(row)
        return row

    def _new_row(self) -> int:
        if self._free:
            return self._free.pop()
        row = len(self._units)
        if row == len(self._facts):
            self._facts = np.concatenate([self._facts, np.full_like(self._facts, -1.0)])
            self._class_numbers = np.concatenate([self._class_numbers, np.zeros_like(self._class_numbers)])
        self._units.append(None)
        return row


class _RowSet:
    """Rows in an array without gaps; a reader beside the writer may find one twice or miss the one that moves."""

    def __init__(self) -> None:
        self._rows = np.zeros(8, dtype=np.int64)
        self._place_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._place_of)

    def rows(self) -> NDArray[np.int64]:
        return self._rows[: len(self._place_of)].copy()

    def add(self, row: int) -> None:
        place = len(self._place_of)
        if place == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[place] = row
        self._place_of[row] = place

    def discard(self, row: int) -> None:
        place = self._place_of.pop(row)
        last = len(self._place_of)
        if place != last:
            moved = int(self._rows[last])
            self._rows[place] = moved
            self._place_of[moved] = place
