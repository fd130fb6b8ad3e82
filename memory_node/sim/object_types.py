"""The classes of things a home may hold: AI2-THOR's names and properties, declared once in config/object_types.yaml."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.resources import resource_path
from memory_node.domain.yaml_1_2 import read_yaml

DEFAULT_SLICE_COUNT = 4


class Property(str, enum.Enum):
    """What can be done with a class of things, or what it does to others."""

    PICKUPABLE = "pickupable"
    OPENABLE = "openable"
    TOGGLEABLE = "toggleable"
    SLICEABLE = "sliceable"
    DIRTYABLE = "dirtyable"
    COOKABLE = "cookable"
    FILLABLE = "fillable"
    BREAKABLE = "breakable"
    USABLE_UP = "usable_up"
    HEATS = "heats"
    COOLS = "cools"
    WATERS = "waters"
    BREWS = "brews"
    CUTS = "cuts"
    MOUNTED = "mounted"


@dataclass(frozen=True)
class ObjectType:
    """One class of things.

    gloss: a short sentence of what it is. size_m: depth (along its front's direction), width, height. colour: RGB, 0 to
    255. holds: "on", "in" or "" for no receptacle; levels: heights at which contents stand, as fractions of its own.
    """

    name: str
    gloss: str
    size_m: tuple[float, float, float]
    colour: tuple[int, int, int]
    shape: str = "box"
    properties: frozenset[Property] = frozenset()
    holds: str = ""
    levels: tuple[float, ...] = (1.0,)
    slices: str = ""
    slice_count: int = DEFAULT_SLICE_COUNT
    slides: bool = False
    cycle_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.gloss:
            raise InvalidValueError(f"{self.name}: expected a gloss")
        if len(self.size_m) != 3 or min(self.size_m) <= 0.0:
            raise InvalidValueError(f"{self.name}: expected three positive sizes in metres, got {self.size_m}")
        if self.holds not in ("", "on", "in"):
            raise InvalidValueError(f"{self.name}: holds: expected 'on' or 'in', got {self.holds!r}")
        if (Property.SLICEABLE in self.properties) != bool(self.slices):
            raise InvalidValueError(f"{self.name}: sliceable and `slices` go together")

    @property
    def is_receptacle(self) -> bool:
        """Whether things can be put on or in it."""
        return bool(self.holds)

    @property
    def words(self) -> str:
        """The name in words, e.g. "soap bottle"."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name).lower()

    @property
    def description(self) -> str:
        """The sentence that stands for the class in an embedding, e.g. "Apple: a round red fruit to eat"."""
        return f"{self.name}: {self.gloss}"

    def can(self, wanted: Property) -> bool:
        """Return whether the class has the property."""
        return wanted in self.properties


class TypeCatalogue:
    """All classes, found by name without regard to case, spaces and underscores."""

    def __init__(self, types: Mapping[str, ObjectType]) -> None:
        self._types = {_folded(name): kind for name, kind in types.items()}
        for kind in types.values():
            if kind.slices and _folded(kind.slices) not in self._types:
                raise InvalidValueError(f"{kind.name}: its slices' class {kind.slices!r} is not declared")

    def __iter__(self) -> Iterator[ObjectType]:
        return iter(self._types.values())

    def __len__(self) -> int:
        return len(self._types)

    def get(self, name: str) -> ObjectType | None:
        """Return the class of that name, or None when there is none."""
        return self._types.get(_folded(name))

    def __getitem__(self, name: str) -> ObjectType:
        kind = self.get(name)
        if kind is None:
            raise InvalidValueError(f"{name!r} is no declared class; declare it in config/object_types.yaml")
        return kind


def load_types(path: Path | None = None) -> TypeCatalogue:
    """Return the classes of a YAML file, by default config/object_types.yaml.

    Raises:
        InvalidValueError: an entry has an unknown key or a value that cannot be.
    """
    source = path or resource_path("config/object_types.yaml")
    declared = read_yaml(source)
    return TypeCatalogue({name: _type_from_entry(name, entry) for name, entry in declared.items()})


def _folded(name: str) -> str:
    return re.sub(r"[\s_\-]", "", name).lower()


def _type_from_entry(name: str, entry: Mapping[str, Any]) -> ObjectType:
    known = {"gloss", "size_m", "colour", "shape", "is", "holds", "levels", "slices", "slice_count", "opens", "cycle_s"}
    unknown = set(entry) - known
    if unknown:
        raise InvalidValueError(f"{name}: unknown keys {sorted(unknown)}; known are {sorted(known)}")
    holds = entry.get("holds", "")
    red, green, blue = entry["colour"]
    depth, width, height = entry["size_m"]
    try:
        properties = frozenset(Property(word) for word in entry.get("is", ()))
    except ValueError as error:
        raise InvalidValueError(f"{name}: {error}; known are {[str(p.value) for p in Property]}") from error
    return ObjectType(
        name=name,
        gloss=entry["gloss"],
        size_m=(float(depth), float(width), float(height)),
        colour=(int(red), int(green), int(blue)),
        shape=entry.get("shape", "box"),
        properties=properties,
        holds=holds,
        levels=tuple(float(level) for level in entry.get("levels", (0.05,) if holds == "in" else (1.0,))),
        slices=entry.get("slices", ""),
        slice_count=int(entry.get("slice_count", DEFAULT_SLICE_COUNT)),
        slides=entry.get("opens", "hinge") == "slide",
        cycle_s=float(entry.get("cycle_s", 0.0)),
    )
