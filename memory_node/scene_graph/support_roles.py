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


@dataclass(frozen=True)
class _Role:
    """What one class does; of a class that no label space declares only the boxes tell."""

    declared: bool = False
    pickupable: bool = True
    mounted: bool = False
    slides: bool = False
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
        mounted = kind.slides or kind.can(Property.FIXED)
        held = kind.is_receptacle, kind.holds_inside, kind.lidded
        return cls(True, kind.pickupable, mounted, kind.slides, *held, level)


@dataclass(frozen=True, eq=False)
class _Columns:
    """The roles of classes by their codes (c,)."""

    declared: Flags
    pickupable: Flags
    mounted: Flags
    slides: Flags
    receptacle: Flags
    container: Flags
    lidded: Flags
    level: NDArray[np.float64]
    unnamed: Flags


@lru_cache(maxsize=8)
def _columns(names: tuple[str, ...], catalogue: ObjectCatalogue) -> _Columns:
    roles = [_Role.of(name, catalogue) for name in names]

    names_of_flags = ("declared", "pickupable", "mounted", "slides", "receptacle", "container", "lidded")
    flags = {name: np.array([getattr(role, name) for role in roles], dtype=np.bool_) for name in names_of_flags}
    level = np.array([role.level for role in roles])
    return _Columns(level=level, unnamed=np.array([name == "object" for name in names], dtype=np.bool_), **flags)


def roles_of(state: GraphState, rows: Rows, neighbours: Rows) -> Roles:
    """Return what the classes of rows and neighbours say."""
    of = _columns(tuple(state.table.class_names), state.catalogue)
    own, theirs = state.table.class_code[rows], state.table.class_code[neighbours]
    same_class = (own[:, None] == theirs[None]) & ~of.unnamed[own][:, None]
    furniture = of.declared & ~of.pickupable
    return Roles(
        mounted=of.mounted[own],
        taken=of.pickupable[own],
        built_in=(furniture & of.container)[own],
        movable=of.pickupable[theirs],
        receptacle=of.receptacle[theirs],
        slides=of.slides[theirs],
        container=of.container[theirs],
        lidded=of.lidded[theirs],
        level=of.level[theirs],
        same_class=same_class,
        # Furniture stands on no thing that a hand can take, on no drawer, and on no other piece of its kind. What is
        # built in is beside a cupboard or a basin, not on it, and a drawer is on nothing at all.
        barred=furniture[own][:, None] & (same_class | (of.slides | of.declared & of.pickupable)[theirs][None])
        | of.mounted[own][:, None] & of.container[theirs][None]
        | of.slides[own][:, None],
    )
