"""The things of a simulated home, and their classes: kinds of the catalogue, and how the simulator draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.errors import InvalidValueError, faults_of
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.resources import read_yaml, resource_path
from memory_node.domain.states import ObjectState

_Channel = Annotated[int, Field(ge=0, le=255)]


class Looks(BaseModel):
    """How a class looks, and what only a simulator needs to know of it; config/home_looks.yaml explains the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    colour: tuple[_Channel, _Channel, _Channel] = (150, 150, 150)
    shape: str = "box"
    mounted: bool = False
    cycle_s: Annotated[float, Field(ge=0.0, le=3600.0)] = 0.0


class _LooksFile(RootModel[dict[str, Looks]]):
    """Looks by class."""


@dataclass(frozen=True, eq=False)
class ObjectType:
    """One class of things in a home.

    name: what the robot calls it, in its own label space. is_named: whether that label space has a class for it; what
    has none is there, and no detector reports it.
    """

    kind: ObjectKind
    looks: Looks
    name: str
    is_named: bool = True

    def __post_init__(self) -> None:
        if self.kind.size_m is None:
            raise InvalidValueError(f"{self.kind.name}: size_m: a thing in a home needs one")

    @property
    def size_m(self) -> tuple[float, float, float]:
        """Depth (along its front's direction), width and height of an ordinary one."""
        assert self.kind.size_m is not None
        return self.kind.size_m

    def can(self, wanted: str) -> bool:
        """Return whether the class has the property."""
        return self.kind.can(wanted)


class TypeCatalogue:
    """All classes that homes may hold: those of the robot's label space, and the household's that it has no name for.

    catalogue: the robot's label space. looks: by class of the household; another class looks like what it stands for.
    """

    def __init__(self, catalogue: ObjectCatalogue, looks: Mapping[str, Looks]) -> None:
        self.catalogue = catalogue
        self._looks = looks
        household = load_catalogue()
        # The behaviour of a thing comes from the household's class, because a detector's class of that name may mean
        # more.
        own = [kind for kind in catalogue if household.get(kind.name) is None or kind.name in household.names]
        others = [kind for kind in household if kind.name not in catalogue.names]
        self._types = {folded(kind.name): self._own(kind) for kind in own if kind.size_m is not None}
        self._types.update({folded(kind.name): self._other(kind) for kind in others if kind.size_m is not None})

    def __iter__(self) -> Iterator[ObjectType]:
        return iter(self._types.values())

    def __len__(self) -> int:
        return len(self._types)

    def get(self, name: str) -> ObjectType | None:
        """Return the class of a name, the robot's or the household's, however it is spelt; None when there is none."""
        return self._types.get(folded(name))

    def __getitem__(self, name: str) -> ObjectType:
        found = self.get(name)
        if found is None:
            raise InvalidValueError(
                f"{name!r} is no class with a size, neither of label space {self.catalogue.name} nor of the household"
            )
        return found

    def called(self, name: str) -> frozenset[ObjectType]:
        """Return the classes that the robot means by a name, or that the household calls so."""
        wanted = folded(name)
        return frozenset(one for one in self._types.values() if wanted in (folded(one.name), folded(one.kind.name)))

    def _own(self, kind: ObjectKind) -> ObjectType:
        looks = next((self._looks[name] for name in (kind.name, *kind.stands_for) if name in self._looks), Looks())
        return ObjectType(kind, looks, kind.name)

    def _other(self, kind: ObjectKind) -> ObjectType:
        name = self._name_here(kind)
        parts = (self._name_here(part) for part in load_catalogue() if part.part_of == kind.name)
        # Where part and whole have one name, a detector reports what things are put into: the basin, not its stand.
        named = bool(name) and name not in parts
        return ObjectType(kind, self._looks.get(kind.name, Looks()), name if named else kind.name, named)

    def _name_here(self, kind: ObjectKind) -> str:
        """Return what the robot's label space calls a kind of the household, "" when it has no name for it."""
        same = self.catalogue.get(kind.name)
        stand_ins = [one.name for one in self.catalogue if kind.name in one.stands_for]
        return same.name if same is not None else next(iter(stand_ins), "")


def load_types(catalogue: ObjectCatalogue | None = None, path: Path | None = None) -> TypeCatalogue:
    """Return the classes of a label space (default: the household) with the looks of a file (default: the shipped one).

    Raises:
        InvalidValueError: an entry of the file has an unknown key or a value that cannot be.
    """
    source = path or resource_path("config/home_looks.yaml")
    try:
        looks = _LooksFile.model_validate(read_yaml(source)).root
    except ValidationError as error:
        raise InvalidValueError(f"{source}: {'; '.join(faults_of(error))}") from error
    return TypeCatalogue(catalogue or load_catalogue(), looks)


HAND = "hand"


@dataclass(eq=False)
class Thing:
    """A fixture or a movable object.

    box: in the map frame; its yaw is the direction of the front. parent_id: what it is on or in, HAND when the robot
    holds it, "" on the floor. approach: where a robot stands to use it, or None to find out. controls: ids of what its
    switch turns on. contents_z_m: heights in the map at which contents stand (empty: by the class's levels).
    heaps: whether things may lie on each other there when all is full, as in dishes, or where the true extent of a
    fixture is not known.
    """

    id: str
    type: ObjectType
    box: OrientedBox
    fixed: bool = False
    parent_id: str = ""
    inside: bool = False
    states: set[ObjectState] = field(default_factory=set)
    approach: Pose | None = None
    controls: tuple[str, ...] = ()
    contents_z_m: tuple[float, ...] = ()
    heaps: bool = False

    @property
    def class_name(self) -> str:
        """The name that the robot has for its class."""
        return self.type.name

    @property
    def kind(self) -> ObjectKind:
        """What can be done with it."""
        return self.type.kind

    @property
    def is_open(self) -> bool:
        """Whether its door, lid or drawer is open; also True of what has none."""
        return ObjectState.CLOSED not in self.states

    @property
    def is_on(self) -> bool:
        """Whether it runs or shines."""
        return ObjectState.ON in self.states

    @property
    def surface_heights_m(self) -> tuple[float, ...]:
        """Heights in the map at which contents stand."""
        if self.contents_z_m:
            return self.contents_z_m
        return tuple(self.box.bottom_m + level * float(self.box.size[2]) for level in self.kind.levels)

    def can(self, wanted: str) -> bool:
        """Return whether its class has the property and it is not broken."""
        return self.type.can(wanted) and (ObjectState.BROKEN not in self.states)

    def add_state(self, state: ObjectState) -> tuple[tuple[ObjectState, ...], tuple[ObjectState, ...]]:
        """Make `state` true and end what it excludes; return (added, removed) states."""
        if state in self.states:
            return (), ()
        removed = tuple(sorted(self.states & state.opposites))
        self.states -= state.opposites
        self.states.add(state)
        return (state,), removed


def initial_states(thing_type: ObjectType) -> set[ObjectState]:
    """Return the states of a new thing of the class: doors closed, switches off."""
    states: set[ObjectState] = set()
    # Books, boxes, laptops and kettles open too, but only what hides its contents or blocks the way starts closed.
    if thing_type.can(Property.OPENABLE) and not thing_type.can(Property.PICKUPABLE):
        states.add(ObjectState.CLOSED)
    if thing_type.can(Property.TOGGLEABLE):
        states.add(ObjectState.OFF)
    return states
