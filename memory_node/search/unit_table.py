"""The facts of the remembered units as columns, so that a request is compared with thousands of them at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.scoring import bits_of_class, state_bits

# Columns of the facts. ROOM: number of the room's name; SUPPORT: number of the class that the thing is on or in, -1
# where that is unknown. USED_NS: NEVER for a thing that the robot has only seen. WORDS: number of what it is in words.
CLASS_PROBABILITY, EXISTENCE, STAMP_NS, X_M, Y_M, Z_M, STATES, AREA, ROOM, SUPPORT, USED_NS, WORDS = range(12)
_COLUMNS = 12
NEVER = -np.inf  # of USED_NS


@dataclass(frozen=True)
class Columns:
    """All rows as they were when asked for: facts (n, 12), class numbers (n,), -1 for a row without a unit, and the
    units by row.

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
        self._facts = np.zeros((64, _COLUMNS))
        self._class_numbers = np.full(64, -1, dtype=np.int32)
        self._units: list[MemoryUnit | None] = []
        self._row_of: dict[str, int] = {}
        self._free: list[int] = []
        self._area_numbers: dict[str, int] = {}
        self._room_numbers: dict[str, int] = {"": 0}
        self._epoch_ns = 0

    def __len__(self) -> int:
        return len(self._row_of)

    def columns(self) -> Columns:
        """Return every row."""
        count = len(self._units)
        rooms = tuple(self._room_numbers.copy())
        return Columns(self._facts[:count], self._class_numbers[:count], self._units, self._epoch_ns, rooms)

    def area_number(self, area_id: str) -> int:
        """Return the number of an area in the facts, -1 for one without units."""
        return self._area_numbers.get(area_id, -1)

    def put(self, unit: MemoryUnit, class_number: int, support_number: int = -1, words_number: int = 0) -> int:
        """Write a unit in place of the one of the same object; return its row.

        class_number, support_number: of its class, and of the class that it is on or in (-1: unknown). words_number: of
        what it is in words.
        """
        if not self._row_of:
            self._epoch_ns = unit.stamp_ns
        row = self._row_of.get(unit.object_id)
        if row is None:
            row = self._new_row()
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
            words_number,
        )
        self._class_numbers[row] = class_number
        self._units[row] = unit
        self._row_of[unit.object_id] = row
        return row

    def remove(self, object_id: str) -> int | None:
        """Take an object's unit out; return the row that it had, or None when there was none."""
        row = self._row_of.pop(object_id, None)
        if row is not None:
            self._class_numbers[row] = -1
            self._units[row] = None
            self._free.append(row)
        return row

    def _new_row(self) -> int:
        if self._free:
            return self._free.pop()
        row = len(self._units)
        if row == len(self._facts):
            self._facts = np.concatenate([self._facts, np.zeros_like(self._facts)])
            self._class_numbers = np.concatenate([self._class_numbers, np.full_like(self._class_numbers, -1)])
        self._units.append(None)
        return row
