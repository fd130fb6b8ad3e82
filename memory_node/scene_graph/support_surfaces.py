"""What may carry things, how far its surface reaches, and where a skill put a thing on it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.scene_graph.object_table import Rows, footprints
from memory_node.scene_graph.state import GraphState

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Roles:
    """Of rows (n,) and the neighbours (m,) that they may stand on or in.

    mounted (n,): fixed to a wall perhaps, or a drawer, so that its foot need not stand on anything. taken (n,): a hand
    can take it. built_in (n,): furniture that holds things itself; where it is within the box of a cupboard it is
    reached from outside. movable (m,): a hand can take the neighbour. receptacle (m,): made for
    things to be put on or in; container (m,): things may be in it; lidded (m,): it encloses them on all sides; level
    (m,): the lowest height at which it carries them, as a share of its own. same_class, barred (n, m): both are called
    the same; the one never stands on or in the other.
    """

    mounted: Flags
    taken: Flags
    built_in: Flags
    movable: Flags
    receptacle: Flags
    slides: Flags
    container: Flags
    lidded: Flags
    level: NDArray[np.float64]
    same_class: Flags
    barred: Flags


_ROLE = np.dtype(
    [
        ("named", np.bool_),
        ("declared", np.bool_),
        ("pickupable", np.bool_),
        ("mounted", np.bool_),
        ("slides", np.bool_),
        ("receptacle", np.bool_),
        ("container", np.bool_),
        ("lidded", np.bool_),
        ("level", np.float64),
    ]
)


def _role(name: str, catalogue: ObjectCatalogue) -> tuple[bool | float, ...]:
    """Return what one class does, as `_ROLE`; of a class that no label space declares only the boxes tell."""
    named, kind = name != "object", catalogue.find(name)
    if kind is None:
        return named, False, True, False, False, False, True, True, 1.0
    level = min(kind.levels, default=1.0) if kind.is_receptacle and not kind.holds_inside else 1.0
    mounted = kind.slides or kind.can(Property.FIXED)
    return named, True, kind.pickupable, mounted, kind.slides, kind.is_receptacle, kind.holds_inside, kind.lidded, level


@lru_cache(maxsize=8)
def _roles(names: tuple[str, ...], catalogue: ObjectCatalogue) -> NDArray[np.void]:
    """Return the roles of classes by their codes (c,)."""
    return np.array([_role(name, catalogue) for name in names], dtype=_ROLE)


def taken_by_hand(state: GraphState, rows: Rows) -> Flags:
    """Return which rows (n,) are of a class that a hand can take."""
    return np.asarray(_roles_at(state, rows)["pickupable"])


def _roles_at(state: GraphState, rows: Rows) -> NDArray[np.void]:
    """Return the roles of the classes of rows (n,)."""
    return np.asarray(_roles(tuple(state.table.class_names), state.catalogue)[state.table.class_code[rows]])


def roles_of(state: GraphState, rows: Rows, neighbours: Rows) -> Roles:
    """Return what the classes of rows and neighbours say."""
    own, theirs, code = _roles_at(state, rows), _roles_at(state, neighbours), state.table.class_code
    same_class = (code[rows][:, None] == code[neighbours][None]) & own["named"][:, None]
    furniture = own["declared"] & ~own["pickupable"]
    loose = theirs["slides"] | theirs["declared"] & theirs["pickupable"]
    return Roles(
        mounted=own["mounted"],
        taken=own["pickupable"],
        built_in=furniture & own["container"],
        movable=theirs["pickupable"],
        receptacle=theirs["receptacle"],
        slides=theirs["slides"],
        container=theirs["container"],
        lidded=theirs["lidded"],
        level=theirs["level"],
        same_class=same_class,
        # Furniture stands on no thing that a hand can take, on no drawer, and on no other piece of its kind. What is
        # built in is beside a cupboard or a basin, not on it, and a drawer is on nothing at all.
        barred=furniture[:, None] & (same_class | loose[None])
        | own["mounted"][:, None] & theirs["container"][None]
        | own["slides"][:, None],
    )


# Things on a support that together tell its height: their feet are seen, its upper face may hold what stands on it.
_TELLING = 2
# A support of several things is at least as large as a stool.
_FURNITURE_M2 = 0.15

Offsets = tuple[NDArray[np.float64], NDArray[np.float64]]


def reach_down(state: GraphState, rows: Rows, neighbours: Rows) -> bool:
    """Extend objects whose foot was never seen down to the surface below them; return whether any was. Behind other
    things often only the upper part is visible, from every view.
    """
    table, config = state.table, state.config
    if not rows.size or not neighbours.size:
        return False
    unseen = table.face_variance[rows, 0, 2] > 0.5 * config.unseen_face_sigma_m**2
    unseen |= table.mostly_truncated(rows)
    if not unseen.any():
        return False
    above = over_footprint(state, rows, neighbours, 0.15) & (rows[:, None] != neighbours[None])
    bottom = table.center[rows, 2] - 0.5 * table.size[rows, 2]
    height = table.center[neighbours, 2] + 0.5 * table.size[neighbours, 2]
    wide = footprints(table.size[neighbours])[None] > 2.0 * footprints(table.size[rows])[:, None]
    gap = np.where(above & wide, bottom[:, None] - height[None], np.inf)
    gap[gap < 0.0] = np.inf
    fall = gap.min(axis=1)
    falls = unseen & (fall < config.hidden_foot_m)
    table.size[rows[falls], 2] += fall[falls]
    table.center[rows[falls], 2] -= 0.5 * fall[falls]
    return bool((fall[falls] > 0.0).any())


def reach_out(state: GraphState, rows: Rows, neighbours: Rows, centers: Offsets) -> bool:
    """Extend supports that were never seen whole under the things that stand beside them at their height; return
    whether any was. The things on a table hide its far part; but they stand on it. What stands over another support at
    its height stands on that one: a tap on the sink between two counters. centers: of the rows, see `on_axes`.
    """
    table, config = state.table, state.config
    partial = table.mostly_truncated(neighbours)
    if not partial.any():
        return False
    bottom = table.center[rows, 2] - 0.5 * table.size[rows, 2]
    height = table.center[neighbours, 2] + 0.5 * table.size[neighbours, 2]
    level = np.abs(bottom[:, None] - height[None]) < 0.5 * config.on_gap_m
    area = footprints(table.size[neighbours])
    large = (area > _FURNITURE_M2)[None] & (area[None] > 4.0 * footprints(table.size[rows])[:, None])
    along, across = centers
    half = 0.5 * table.size[neighbours, :2]
    stands = (beyond_footprint(state, centers, neighbours) < 0.0) & level & large & (rows[:, None] != neighbours[None])
    free = ~stands.any(axis=1)[:, None]
    extended = False
    for axis, (here, there) in enumerate(((along, across), (across, along))):
        excess = np.abs(here) - half[:, axis]
        beside = (excess > 0.0) & (excess < config.hidden_foot_m) & (np.abs(there) < half[:, 1 - axis])
        beside &= level & large & free & (rows[:, None] != neighbours[None]) & partial[None]
        for column in np.flatnonzero(beside.any(axis=0)).tolist():
            most = np.where(beside[:, column], excess[:, column], 0.0)
            farthest = int(np.argmax(most))
            _extend(state, int(neighbours[column]), axis, float(most[farthest]) * np.sign(here[farthest, column]))
            extended = True
    return extended


def settle_tops(state: GraphState, supports: Rows) -> list[int]:
    """Lower the upper faces of supports that were never seen whole to the things on them that a hand can take; return
    the rows that changed. What stands on a table ends where the table begins, but a mask of the table may hold both.
    """
    table, config = state.table, state.config
    lowered = []
    for row in supports[table.mostly_truncated(supports)].tolist():
        load = [table.row_of[one] for one in state.contents.get(table.record(row).id, ())]
        on = [one for one in load if not table.record(one).inside]
        if len(on) < _TELLING:
            continue
        things = np.array(on, np.intp)
        things = things[~table.mostly_truncated(things) & taken_by_hand(state, things)]
        top = table.center[row, 2] + 0.5 * table.size[row, 2]
        sunk = top - (table.center[things, 2] - 0.5 * table.size[things, 2])
        by_m = statistics.median(sunk.tolist()) if len(sunk) >= _TELLING else 0.0
        if 0.0 < by_m < min(config.on_gap_m, 0.5 * float(table.size[row, 2])):
            table.size[row, 2] -= by_m
            table.center[row, 2] -= 0.5 * by_m
            lowered.append(row)
    return lowered


def _extend(state: GraphState, row: int, axis: int, by_m: float) -> None:
    """Move one side of a box along its x or y axis outwards: the far one for a positive length, the near one for a
    negative."""
    table = state.table
    yaw = float(table.yaw[row]) + axis * 0.5 * np.pi
    table.size[row, axis] += abs(by_m)
    table.center[row, 0] += 0.5 * by_m * np.cos(yaw)
    table.center[row, 1] += 0.5 * by_m * np.sin(yaw)


def on_axes(state: GraphState, rows: Rows, neighbours: Rows) -> Offsets:
    """Return where the centres of rows lie along and across the boxes of neighbours (rows, neighbours), in metres."""
    table = state.table
    shift = table.center[rows, None, :2] - table.center[None, neighbours, :2]
    yaw = table.yaw[neighbours].astype(np.float64)
    cos, sin = np.cos(yaw), np.sin(yaw)
    return cos * shift[..., 0] + sin * shift[..., 1], cos * shift[..., 1] - sin * shift[..., 0]


def over_footprint(state: GraphState, rows: Rows, neighbours: Rows, margin_m: float) -> NDArray[np.bool_]:
    """Return (rows, neighbours): the centre of the one is above or below the footprint of the other, widened by a
    margin."""
    return np.asarray(beyond_footprint(state, on_axes(state, rows, neighbours), neighbours) < margin_m)


def beyond_footprint(state: GraphState, centers: Offsets, neighbours: Rows) -> NDArray[np.float64]:
    """Return how far centres lie beyond the sides of the neighbours' boxes (rows, neighbours), in metres: below 0
    above or below them. centers: see `on_axes`."""
    along, across = centers
    half = 0.5 * state.table.size[neighbours, :2]
    return np.asarray(np.maximum(np.abs(along) - half[:, 0], np.abs(across) - half[:, 1]))


# Boxes of several views of a thing that lies still, and of its support, differ by less than this (m).
_SAME_SPOT_M = 0.15


def note_put(state: GraphState, row: int) -> None:
    """Note that the thing of a row was put on or in its support, where it is now."""
    x, y, z = (float(value) for value in state.table.center[row])
    state.table.record(row).put_at = (x, y, z)


def is_where_it_was_put(state: GraphState, row: int) -> bool:
    """Return whether the thing of a row still lies where a skill put it, at a support that is still known there."""
    table, record = state.table, state.table.record(row)
    if record.put_at is None:
        return False
    support = table.row_of.get(record.support_id)
    stays = support is not None and not table.removed[support] and table.log_odds[support] > 0.0
    lies = float(np.linalg.norm(table.center[row] - np.array(record.put_at))) <= _SAME_SPOT_M
    return support is not None and stays and lies and _meet(state, row, support)


def _meet(state: GraphState, row: int, support: int) -> bool:
    """Return whether a thing's box is in, on or at its support's, as near as boxes are known."""
    table = state.table
    apart_m = abs(float(table.center[row, 2] - table.center[support, 2]))
    level = apart_m <= 0.5 * float(table.size[row, 2] + table.size[support, 2]) + _SAME_SPOT_M
    return level and bool(over_footprint(state, np.array([row]), np.array([support]), _SAME_SPOT_M)[0, 0])
