"""The units that a cache holds, by object and by class, and the last ones that left it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from memory_node.domain.memory_unit import MemoryUnit

# Units that left and are still known: a slice may be cut from one of them.
_REMEMBERED_DEPARTED = 16


class HeldUnits:
    """Units by object id. One thread writes at a time; reading needs no lock, because a copy of a dict is atomic and an
    iteration over a dict that a writer may change is not."""

    def __init__(self) -> None:
        self._units: dict[str, MemoryUnit] = {}
        self._ids_by_class: dict[str, dict[str, None]] = {}
        self._departed: OrderedDict[str, MemoryUnit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._units)

    def __contains__(self, object_id: object) -> bool:
        return object_id in self._units

    def __getitem__(self, object_id: str) -> MemoryUnit:
        return self._units[object_id]

    def get(self, object_id: str) -> MemoryUnit | None:
        """Return the unit of an object, None when it is not held."""
        return self._units.get(object_id)

    def all(self) -> tuple[MemoryUnit, ...]:
        """Return all units, in no particular order."""
        return tuple(self._units.copy().values())

    def ids_of_class(self, object_class: str) -> tuple[str, ...]:
        """Return the ids of the units of a class."""
        return tuple(self._ids_by_class.get(object_class, {}).copy())

    def held_or_departed(self, object_id: str) -> MemoryUnit | None:
        """Return the unit of an object that is held, or that was among the last ones to leave."""
        return self._units.get(object_id) or self._departed.get(object_id)

    def named(self, object_ids: Iterable[str], object_classes: Iterable[str]) -> set[str]:
        """Return the ids of the held units with one of these ids or classes."""
        found = {object_id for object_id in object_ids if object_id in self._units}
        return found.union(*(self.ids_of_class(name) for name in object_classes))

    def put(self, unit: MemoryUnit) -> None:
        """Hold a unit, in the place of the one of the same object."""
        held = self._units.get(unit.object_id)
        if held is not None and held.object_class != unit.object_class:
            self._leave_class(held)
        self._units[unit.object_id] = unit
        self._ids_by_class.setdefault(unit.object_class, {})[unit.object_id] = None
        self._departed.pop(unit.object_id, None)

    def drop(self, object_id: str) -> None:
        """Let a unit leave."""
        unit = self._units.pop(object_id)
        self._leave_class(unit)
        self._departed[object_id] = unit
        if len(self._departed) > _REMEMBERED_DEPARTED:
            self._departed.popitem(last=False)

    def forget_departed(self) -> None:
        """Forget the units that left."""
        self._departed.clear()

    def _leave_class(self, unit: MemoryUnit) -> None:
        ids = self._ids_by_class[unit.object_class]
        del ids[unit.object_id]
        if not ids:
            del self._ids_by_class[unit.object_class]
