"""Finds the remembered object that a skill executor means: executors have ids of their own, or none."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from memory_node.domain.geometry import FloatArray
from memory_node.domain.skill import ObjectReference, StateChange
from memory_node.domain.states import DOORS
from memory_node.scene_graph.object_table import Rows

# A thing of the right class this close to where the executor says it is, is that thing.
SAME_PLACE_M = 0.75
# Remembered places are right to so much (m).
OFF_PLACE_M = 0.05
# Ids of executors that are known at most; the one that was named longest ago is forgotten first.
KNOWN_IDS = 10_000


@dataclass(eq=False)
class ChangeGrounding:
    """Translates changes from an executor's references to memory's ids; remembers the last ids that it has resolved.

    Args:
        distances: returns the rows (n) of the present objects of a class, and how far each is from a position in map
            (n,), m; where told so, from where it can slide to.
        id_of: returns the id of a row's object.
        present_id: returns the id of the present object that an id or a name of memory stands for, "" for none.
        carried: returns the rows of what the robot is believed to hold, then of what is on or in that.
        make_id: makes the id of an object that memory has not seen yet.
    """

    distances: Callable[[str, tuple[float, float, float], bool], tuple[Rows, FloatArray]]
    id_of: Callable[[int], str]
    present_id: Callable[[str], str]
    carried: Callable[[], Rows]
    make_id: Callable[[], str]

    def __post_init__(self) -> None:
        self._known: OrderedDict[str, str] = OrderedDict()

    def ground(self, change: StateChange) -> StateChange:
        """Return the change in memory's ids; an object that fits nothing gets a new id, to be entered with it."""
        object_id = self._resolve(change)
        # The position of an effect is no new position of the thing, unless it was put there, or slid open or shut.
        moved = change.held is False or bool(change.support_id) or not self._exists(object_id)
        moved = moved or not DOORS.isdisjoint(change.added)
        return replace(
            change,
            object_id=object_id,
            support_id=self._reference(change.support_id),
            created_from=self._known.get(change.created_from, change.created_from),
            position=change.position if moved else None,
        )

    def _resolve(self, change: StateChange) -> str:
        executor_id = change.object_id
        if executor_id and self._exists(executor_id):
            return executor_id
        known = self._known.get(executor_id, "")
        if self._exists(known) and not self._is_another(known, change):
            self._known.move_to_end(executor_id)
            return known
        # An executor's own "mug 1" need not be memory's Mug 1: where it tells class and place, these decide.
        named = "" if change.object_class and change.position is not None else self.present_id(executor_id)
        if named:
            return named
        # A thing just cut off another one cannot be one that was seen before.
        found = "" if change.created_from else self._nearest(change.object_class, change.position, change)
        object_id = found or self.make_id()
        if executor_id:
            if known:  # of what it stood for until now
                self._known = OrderedDict((key, one) for key, one in self._known.items() if one != object_id)
            self._known[executor_id] = object_id
            self._known.move_to_end(executor_id)
            if len(self._known) > KNOWN_IDS:
                self._known.popitem(last=False)
        return object_id

    def _is_another(self, known: str, change: StateChange) -> bool:
        """Return whether a change is of another thing than the one that its id stood for: memory has come to know one
        of the class much nearer to where the executor has it. What is carried stays the same, wherever it is, and so
        does what was put somewhere: like things may lie there."""
        if change.position is None or change.held is False or change.support_id:
            return False
        rows, distances = self.distances(change.object_class, change.position, not DOORS.isdisjoint(change.added))
        if not rows.size or self.id_of(int(rows[distances.argmin()])) == known:
            return False
        of_known = np.array([self.id_of(row) == known for row in rows.tolist()], dtype=bool)
        if not of_known.any() or np.isin(rows[of_known], self.carried()).any():
            return False
        off_m = float(distances[of_known].min())
        return off_m > OFF_PLACE_M and float(distances.min()) < 0.5 * off_m

    def _nearest(
        self, object_class: str, position: tuple[float, float, float] | None, change: StateChange | None = None
    ) -> str:
        """Return the id of the nearest of a class, "" for none. change: what is reported of it."""
        may_have_slid = change is not None and not DOORS.isdisjoint(change.added)
        rows, distances = self.distances(object_class, position or (0.0, 0.0, 0.0), may_have_slid)
        if change is not None and change.held is False:
            # What the hand holds is known by that; its remembered place is where it was taken from.
            for row in self.carried().tolist():
                if row in rows:
                    return self.id_of(row)
        if position is None or not rows.size:
            return self.id_of(int(rows[0])) if rows.size == 1 else ""
        nearest = distances.min()
        if nearest > SAME_PLACE_M:
            return ""
        # Of equally near ones the lowest id: a replay decides the same.
        return min(self.id_of(row) for row in rows[distances == nearest].tolist())

    def _reference(self, text: str) -> str:
        if not text or self._exists(text):
            return text
        if text in self._known:
            return self._known[text]
        named = self.present_id(text)
        if named:
            return named
        reference = ObjectReference.parse(text)
        return self._nearest(reference.object_class, reference.position)

    def _exists(self, object_id: str) -> bool:
        """Return whether memory has an object of this id."""
        return bool(object_id) and self.present_id(object_id) == object_id
