"""Finds the remembered object that a reference means: an id, a name, or a class with or without a place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import FloatArray
from memory_node.domain.skill import ObjectReference, StateChange
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import ROBOT_ID, GraphState

_WITHIN_M = 1.0
# A thing that is named without a place is within the robot's reach (m).
_REACH_M = 2.0


def resolve_reference(state: GraphState, text: str) -> int | None:
    """Return the row of an id, of a name or of Class@x,y,z; None when memory has none."""
    known = state.table.id_of(text)
    if known:
        return state.table.row(known)
    reference = ObjectReference.parse(text)
    return None if reference.position is None else nearest_of_class(state, reference.object_class, reference.position)


def meant_row(
    state: GraphState, text: str, robot: tuple[float, float, float] | None = None, carried: bool = False
) -> int | None:
    """Return the row of the present thing that the argument of a step means, None where that is not certain: steps name
    things by class, too.

    robot: where it stood, which tells one of several things without a place. carried: the thing is, or just was, in
    the hand; its place is then where it was taken from.
    """
    table = state.table
    known = table.id_of(text)
    if known:
        return None if table.removed[table.row(known)] else table.row(known)
    try:
        reference = ObjectReference.parse(text)
    except InvalidValueError:
        return None
    alike = [row for row in state.rows_of_class(reference.object_class).tolist() if not table.removed[row]]
    held = next((row for row in alike if table.record(row).support_id == ROBOT_ID), None)
    if held is not None and (carried or reference.position is None):
        return held
    if reference.position is not None:
        nearest = nearest_of_class(state, reference.object_class, reference.position)
        return held if nearest is None else nearest
    if len(alike) > 1 and robot is not None:
        away_m = np.linalg.norm(table.center[alike, :2] - np.array(robot[:2]), axis=1)
        alike = [row for row, far_m in zip(alike, away_m.tolist()) if far_m <= _REACH_M]
    return alike[0] if len(alike) == 1 else None


def nearest_of_class(state: GraphState, name: str, position: tuple[float, float, float]) -> int | None:
    """Return the row of the nearest present object of a class within a metre of a position in map; a drawer may have
    been pulled out or pushed in since, and its way counts nothing."""
    table = state.table
    x, y, _ = position
    rows = state.index.within((x - _WITHIN_M, y - _WITHIN_M), (x + _WITHIN_M, y + _WITHIN_M))
    rows = rows[table.is_of_class(rows, name)]
    if not rows.size:
        return None
    away_m = off_rail_m(state, rows, np.array(position))
    best = int(np.argmin(away_m))
    return int(rows[best]) if away_m[best] <= _WITHIN_M else None


# What a metre that something has slid counts beside one that it is away.
_OF_WAY = 0.01


def off_rail_m(state: GraphState, rows: Rows, place: FloatArray) -> FloatArray:
    """Return how far some rows (n,) are from a place (3,) in map, m: what slides from the nearest point that it can
    slide to. Of two that can slide there, the one with the shorter way is nearer."""
    table = state.table
    offset, yaw = place - table.center[rows], table.yaw[rows].astype(np.float64)
    front = np.stack([np.cos(yaw), np.sin(yaw), np.zeros(len(yaw))], axis=1)
    kinds = [state.catalogue.find(table.record(row).best_class) for row in rows.tolist()]
    slides = np.array([kind is not None and kind.slides for kind in kinds], dtype=bool)
    reach_m = np.where(slides, table.size[rows, 0], 0.0)
    ahead_m = np.clip((offset * front).sum(axis=1), -reach_m, reach_m)
    return np.asarray(np.linalg.norm(offset - ahead_m[:, None] * front, axis=1) + _OF_WAY * np.abs(ahead_m))


_MOST_CANDIDATES = 5
_LIKE = 0.75  # difflib's ratio from which a misspelt class counts as meant


class NamedThings:
    """Reads references of people and agents: an id, a name ("Mug 2"), an alias, or Class@x,y,z.

    A skill executor has ids of its own and is read by `ChangeGrounding`; a person who names what memory does not know
    is told so, because a guess changes another thing.

    Raises (every method):
        NotFoundError: nothing is called so.
        InvalidValueError: several things are meant, or the thing is of another class.
    """

    def __init__(self, state: GraphState) -> None:
        self._state = state

    def row(self, reference: str, what: str = "object_id", class_name: str = "") -> int:
        """Return the row of a thing, removed ones included; what: the argument's name, and class_name: what is known of
        the thing, for the error."""
        with suppress(InvalidValueError):  # an "@" in a name alone means no place
            found = resolve_reference(self._state, reference)
            if found is not None:
                return found
        hint = self._hint(class_name or reference)
        raise NotFoundError(f"{what}: no object {reference!r} is in the scene graph; {hint}")

    def settle(self, change: StateChange) -> StateChange:
        """Return a change with memory's ids. Without an id it is about the only thing of its class, or about a new one
        whose place it tells: then the id stays empty."""
        row = self.row(change.object_id, "object_id", change.object_class) if change.object_id else self._only(change)
        support = self._support(change.support_id, row) if change.support_id else ""
        if row is None:
            return replace(change, support_id=support)
        record = self._state.table.record(row)
        if change.object_id and change.object_class and not self._may_be(row, change.object_class):
            raise InvalidValueError(
                f"object_class: {record.name} ({record.id}) is a {record.best_class}, not a {change.object_class}; "
                "leave object_class out, or name another object_id"
            )
        return replace(change, object_id=record.id, object_class=record.best_class, support_id=support)

    def _only(self, change: StateChange) -> int | None:
        name, state = change.object_class, self._state
        if not name:
            raise InvalidValueError("object_id, object_class: expected one of them, got neither")
        rows = self._present(name)
        if change.position is not None or change.created_from:
            return nearest_of_class(state, name, change.position) if change.position is not None else None
        if change.held is False:
            rows = [row for row in rows if state.table.record(row).support_id == ROBOT_ID] or rows
        if len(rows) > 1:
            raise InvalidValueError(f"object_class: {len(rows)} things are a {name}: {self._listed(rows)}; name one")
        if not rows and not change.support_id and not change.held:
            raise NotFoundError(
                f"object_class: no {name} is in the scene graph; {self._hint(name)}. To enter a new one tell where it "
                "is: its position, or what it is put on"
            )
        return rows[0] if rows else None

    def _support(self, reference: str, row: int | None) -> str:
        state = self._state
        alike = [] if state.table.id_of(reference) or "@" in reference else self._present(reference)
        if len(alike) > 1:
            raise InvalidValueError(f"support: {len(alike)} things are a {reference}: {self._listed(alike)}; name one")
        support = alike[0] if alike else self.row(reference, "support")
        support_id = state.table.record(support).id
        if row is not None and support in (row, *state.load_of(state.table.record(row).id)):
            raise InvalidValueError(f"support: {self._listed([support])} is, or stands on, the thing itself")
        return support_id

    def _present(self, name: str) -> list[int]:
        rows = self._state.rows_of_class(name)
        kind = self._state.catalogue.find(name) if not rows.size else None
        rows = rows if kind is None else self._state.rows_of_class(kind.name)
        return [int(row) for row in rows[~self._state.table.removed[rows]]]

    def _may_be(self, row: int, name: str) -> bool:
        record, find = self._state.table.record(row), self._state.catalogue.find
        kind = find(name)
        return any(
            folded(one) == folded(name) or (kind is not None and find(one) is kind) for one in record.classes
        ) or record.best_class in ("object", "")

    def _hint(self, text: str) -> str:
        """Return which things may be meant instead."""
        table, wanted = self._state.table, folded(text.partition("@")[0]).rstrip("0123456789")
        spelt = {folded(table.class_names[code]): table.class_names[code] for code in table.class_code[table.alive]}
        like = [one for one in spelt if one == wanted] or [one for one in spelt if wanted and wanted in one]
        like = like or difflib.get_close_matches(wanted, spelt, 2, _LIKE)
        rows = [row for one in like for row in self._present(spelt[one])] or self._present(wanted)
        return f"known: {self._listed(rows)}" if rows else "find_objects tells ids and names of what is known"

    def _listed(self, rows: Iterable[int]) -> str:
        records = [self._state.table.record(row) for row in rows]
        shown = ", ".join(f"{record.name} ({record.id})" for record in records[:_MOST_CANDIDATES])
        more = len(records) - _MOST_CANDIDATES
        return f"{shown} and {more} more" if more > 0 else shown
