"""What classes can carry and hold, from the catalogue: a cabinet holds things, a burner stands on no pot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

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


@dataclass(frozen=True, eq=False)
class _Columns:
    """The roles of classes by their codes (c,)."""

    declared: Flags
    pickupable: Flags
    fixed: Flags
    receptacle: Flags
    container: Flags
    lidded: Flags
    level: NDArray[np.float64]
    unnamed: Flags


@lru_cache(maxsize=8)
def _columns(names: tuple[str, ...], catalogue: ObjectCatalogue) -> _Columns:
    roles = [_Role.of(name, catalogue) for name in names]

    def flags(name: str) -> Flags:
        return np.array([getattr(role, name) for role in roles], dtype=np.bool_)

    declared, pickupable, fixed, receptacle, container, lidded = map(
        flags, ("declared", "pickupable", "fixed", "receptacle", "container", "lidded")
    )
    level = np.array([role.level for role in roles])
    unnamed = np.array([name == "object" for name in names], dtype=np.bool_)
    return _Columns(declared, pickupable, fixed, receptacle, container, lidded, level, unnamed)


def roles_of(state: GraphState, rows: Rows, neighbours: Rows) -> Roles:
    """Return what the classes of rows and neighbours say."""
    of = _columns(tuple(state.table.class_names), state.catalogue)
    own, theirs = state.table.class_code[rows], state.table.class_code[neighbours]
    same_class = (own[:, None] == theirs[None]) & ~of.unnamed[own][:, None]
    furniture = of.declared & ~of.pickupable
    built_in = furniture & (of.fixed | of.container)
    return Roles(
        hangs=of.fixed[own],
        taken=of.pickupable[own],
        built_in=built_in[own],
        movable=of.pickupable[theirs],
        receptacle=of.receptacle[theirs],
        container=of.container[theirs],
        lidded=of.lidded[theirs],
        level=of.level[theirs],
        same_class=same_class,
        # Furniture stands on no thing that a hand can take, and on no other piece of its kind.
        barred=furniture[own][:, None] & (same_class | (of.declared & of.pickupable)[theirs][None]),
    )
