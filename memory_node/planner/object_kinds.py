"""What a planner may know of a class of things: its properties, its gloss and the words that people use for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from memory_node.domain.resources import resource_path
from memory_node.domain.skill_library import Predicate

SLICED_SUFFIX = "Sliced"
# Classes that can stand in for each other: in a home without a desk another table takes its part.
_ALIKE = (
    frozenset({"DiningTable", "CoffeeTable", "SideTable", "Desk", "CounterTop", "TVStand", "Dresser"}),
    frozenset({"DeskLamp", "FloorLamp"}),
    frozenset({"Shelf", "Cabinet", "Cart", "Dresser", "TVStand", "SideTable"}),
    frozenset({"Sofa", "ArmChair", "Bed", "Ottoman"}),
    frozenset({"SinkBasin", "BathtubBasin"}),
)
_PROPERTIES = {
    "pickupable": Predicate.PICKUPABLE,
    "openable": Predicate.OPENABLE,
    "toggleable": Predicate.TOGGLEABLE,
    "sliceable": Predicate.SLICEABLE,
    "breakable": Predicate.BREAKABLE,
    "fillable": Predicate.FILLABLE,
}


@dataclass(frozen=True)
class ObjectKind:
    """One class.

    names: words for it, the best first; described: phrases that point at it; slices: what it becomes; everyday: it has
    an entry in the vocabulary, so that its name is the first choice for its words; holds_inside: not just on it.
    """

    name: str
    gloss: str
    properties: frozenset[Predicate]
    names: tuple[str, ...]
    described: tuple[str, ...] = ()
    slices: str = ""
    everyday: bool = False
    holds_inside: bool = False

    @property
    def movable(self) -> bool:
        """Whether a hand can take it."""
        return Predicate.PICKUPABLE in self.properties

    @property
    def lidded(self) -> bool:
        """Whether its contents are out of reach while it is closed."""
        return Predicate.OPENABLE in self.properties and self.holds_inside and not self.movable


class ObjectKinds:
    """All known classes; an unknown one is taken for something that can be carried and nothing else."""

    def __init__(self, kinds: Iterable[ObjectKind]) -> None:
        self._kinds = {kind.name: kind for kind in kinds}

    def __contains__(self, name: str) -> bool:
        return name in self._kinds

    def __getitem__(self, name: str) -> ObjectKind:
        known = self._kinds.get(name)
        if known is not None:
            return known
        return ObjectKind(name, split_words(name), frozenset({Predicate.PICKUPABLE}), (split_words(name),))

    @property
    def names(self) -> tuple[str, ...]:
        """Every class, sorted."""
        return tuple(sorted(self._kinds))

    def sliced(self, name: str) -> str:
        """Return the class of the pieces that slicing makes."""
        return self[name].slices or name + SLICED_SUFFIX

    def whole(self, name: str) -> str:
        """Return the class that pieces of class `name` were cut from; a whole is its own."""
        wholes = (kind.name for kind in self._kinds.values() if kind.slices == name)
        return next(wholes, name.removesuffix(SLICED_SUFFIX))


def alike(names: Iterable[str]) -> frozenset[str]:
    """Return the classes that can stand in for some others where those are not to be had."""
    wanted = set(names)
    return frozenset(other for group in _ALIKE if group & wanted for other in group) - wanted


def split_words(name: str) -> str:
    """Return "soap bottle" for "SoapBottle"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


@lru_cache(maxsize=1)
def load_object_kinds() -> ObjectKinds:
    """Return the classes of config/object_types.yaml with the words of config/vocabulary.yaml."""
    types = yaml.safe_load(resource_path("config/object_types.yaml").read_text(encoding="utf-8"))
    words = yaml.safe_load(resource_path("config/vocabulary.yaml").read_text(encoding="utf-8"))
    return ObjectKinds(_kind(name, types.get(name, {}), words.get(name, {})) for name in {**types, **words})


def _kind(name: str, entry: Mapping[str, Any], words: Mapping[str, Any]) -> ObjectKind:
    properties = {_PROPERTIES[word] for word in entry.get("is", ()) if word in _PROPERTIES}
    if entry.get("holds"):
        properties.add(Predicate.RECEPTACLE)
    names = dict.fromkeys((*words.get("names", ()), split_words(name)))
    gloss = entry.get("gloss", split_words(name))
    described, slices = tuple(words.get("described", ())), entry.get("slices", "")
    inside = entry.get("holds") == "in"
    return ObjectKind(name, gloss, frozenset(properties), tuple(names), described, slices, bool(words), inside)
