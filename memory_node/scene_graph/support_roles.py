"""What classes can carry and hold, from the catalogue: a cabinet holds things, a burner stands on no pot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import GraphState

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Roles:
    """Of rows (n,) and the neighbours (m,) that they may stand on or in.

    hangs (n,): fixed to a wall perhaps, so that its foot need not stand on anything. taken (n,): a hand can take it.
    built_in (n,): furniture that is fixed or holds things itself. Where it is within the box of a cupboard, as a sink
    or a drawer is, it is reached from outside. movable (m,): a hand can take the neighbour. receptacle (m,): made for
    things to be put on or in; container (m,): things may be in it; lidded (m,): it encloses them on all sides; level
    (m,): the lowest height at which it carries them, as a share of its own. same_class, barred (n, m): both are called
    the same; the one never stands on or in the other.
    """

    hangs: Flags
    taken: Flags
    built_in: Flags
    movable: Flags
    receptacle: Flags
    container: Flags
    lidded: Flags
    level: NDArray[np.float64]
    same_class: Flags
    barred: Flags


@dataclass(frozen=True)
class _Role:
    """What one class does; of a class that no label space declares only the boxes tell."""

    declared: bool = False
    pickupable: bool = True
    fixed: bool = False
    receptacle: bool = False
    container: bool = True
    lidded: bool = True
    level: float = 1.0

    @classmethod
    def of(cls, name: str, catalogue: ObjectCatalogue) -> _Role:
        kind = catalogue.find(name)
        if kind is None:
            return cls()
        level = min(kind.levels, default=1.0) if kind.is_receptacle and not kind.holds_inside else 1.0
        fixed = kind.can(Property.FIXED)
        return cls(True, kind.pickupable, fixed, kind.is_receptacle, kind.holds_inside, kind.lidded, level)


def roles_of(state: GraphState, rows: Rows, neighbours: Rows) -> Roles:
    """Return what the classes of rows and neighbours say."""
    names = state.table.class_names
    own, theirs = state.table.class_code[rows], state.table.class_code[neighbours]
    codes = np.union1d(own, theirs)
    roles = [_Role.of(names[code], state.catalogue) for code in codes.tolist()]
    at, there = np.searchsorted(codes, own), np.searchsorted(codes, theirs)

    def column(name: str) -> NDArray[np.float64]:
        return np.array([getattr(role, name) for role in roles], dtype=np.float64)

    declared, pickupable = column("declared") > 0.0, column("pickupable") > 0.0
    unnamed = np.array([names[code] == "object" for code in codes.tolist()], dtype=np.bool_)
    same_class = (own[:, None] == theirs[None]) & ~unnamed[at][:, None]
    furniture = declared & ~pickupable
    stays = furniture[at][:, None]
    built_in = furniture & ((column("fixed") > 0.0) | (column("container") > 0.0))
    return Roles(
        hangs=(column("fixed") > 0.0)[at],
        taken=pickupable[at],
        built_in=built_in[at],
        movable=pickupable[there],
        receptacle=(column("receptacle") > 0.0)[there],
        container=(column("container") > 0.0)[there],
        lidded=(column("lidded") > 0.0)[there],
        level=column("level")[there],
        same_class=same_class,
        # Furniture stands on no thing that a hand can take, and on no other piece of its kind.
        barred=stays & (same_class | (declared & pickupable)[there][None]),
    )
