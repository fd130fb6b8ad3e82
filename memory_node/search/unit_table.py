"""The facts of the remembered units as columns, so that a request is compared with thousands of them at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.scoring import bits_of_class, state_bits

# Columns of the facts. A row that holds no unit has a class probability below 0. ROOM: number of the room's name;
# SUPPORT: number of the class that the thing is on or in, -1 where that is unknown. USED_NS: NEVER for a
# thing that the robot has only seen.
CLASS_PROBABILITY, EXISTENCE, STAMP_NS, X_M, Y_M, Z_M, STATES, AREA, ROOM, SUPPORT, USED_NS = range(11)
_COLUMNS = 11
NEVER = -np.inf  # of USED_NS
_NO_ROWS = np.zeros(0, dtype=np.int64), np.zeros((0, _COLUMNS))


@dataclass(frozen=True)
class Columns:
    """All rows as they were when asked for: facts (n, 11), class numbers (n,), and the units by row.

    Stamps are nanoseconds since `epoch_ns`: they are exact in a float64 over a hundred days. rooms: names by number.
    """

    facts: NDArray[np.float64]
    class_numbers: NDArray[np.int32]
    units: list[MemoryUnit | None]
    epoch_ns: int
    rooms: tuple[str, ...]


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
        self._room_numbers: dict[str, int] = {"": 0}
        self._shelves: dict[int, _ClassShelf] = {}
        self._epoch_ns = 0

    def __len__(self) -> int:
        return len(self._row_of)

    def columns(self) -> Columns:
        """Return every row."""
        count = len(self._units)
        rooms = tuple(self._room_numbers.copy())
        return Columns(self._facts[:count], self._class_numbers[:count], self._units, self._epoch_ns, rooms)

    def of_class(self, class_number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the rows (n,) of the units of a class and their facts (n, 11)."""
        shelf = self._shelves.get(class_number)
        return _NO_ROWS if shelf is None else shelf.rows_and_facts()

    def area_number(self, area_id: str) -> int:
        """Return the number of an area in the facts, -1 for one without units."""
        return self._area_numbers.get(area_id, -1)

    def put(self, unit: MemoryUnit, class_number: int, support_number: int = -1) -> int:
        """Write a unit in place of the one of the same object; return its row.

        class_number, support_number: of its class, and of the class that it is on or in (-1: unknown).
        """
        if not self._row_of:
            self._epoch_ns = unit.stamp_ns
        row = self._row_of.get(unit.object_id)
        if row is None:
            row = self._new_row()
        elif self._class_numbers[row] != class_number:
            self._shelves[int(self._class_numbers[row])].discard(row)
        believed = state_bits(*(belief.state for belief in unit.states if unit.has_state(belief.state)))
        self._facts[row] = (
            unit.class_probability,
            unit.existence,
            unit.stamp_ns - self._epoch_ns,
            *unit.position,
            believed | bits_of_class(unit.object_class),
            self._area_numbers.setdefault(unit.area_id, len(self._area_numbers)),
            self._room_numbers.setdefault(unit.room_name, len(self._room_numbers)),
            support_number,
            unit.used_ns - self._epoch_ns if unit.used_ns else NEVER,
        )
        self._class_numbers[row] = class_number
        self._units[row] = unit
        self._row_of[unit.object_id] = row
        self._shelves.setdefault(class_number, _ClassShelf()).put(row, self._facts[row])
        return row

    def remove(self, object_id: str) -> int | None:
        """Take an object's unit out; return the row that it had, or None when there was none."""
        row = self._row_of.pop(object_id, None)
        if row is not None:
            self._facts[row, CLASS_PROBABILITY] = -1.0
            self._shelves[int(self._class_numbers[row])].discard(row)
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


class _ClassShelf:
    """The rows of one class with their facts side by side: to gather a class from all rows costs ten times as much.

    A reader beside the writer may find a row twice or miss the one that moves.
    """

    def __init__(self) -> None:
        self._shelf = np.zeros(8, dtype=np.int64), np.zeros((8, _COLUMNS))
        self._place_of: dict[int, int] = {}

    def rows_and_facts(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        rows, facts = self._shelf
        count = len(self._place_of)
        return rows[:count], facts[:count]

    def put(self, row: int, facts: NDArray[np.float64]) -> None:
        place = self._place_of.get(row)
        if place is None:
            place = len(self._place_of)
            if place == len(self._shelf[0]):
                rows, shelf = self._shelf
                self._shelf = np.concatenate([rows, np.zeros_like(rows)]), np.concatenate([shelf, np.zeros_like(shelf)])
            self._shelf[0][place] = row
        self._shelf[1][place] = facts
        self._place_of[row] = place

    def discard(self, row: int) -> None:
        rows, facts = self._shelf
        place = self._place_of.pop(row)
        last = len(self._place_of)
        if place != last:
            moved = int(rows[last])
            rows[place], facts[place] = moved, facts[last]
            self._place_of[moved] = place
