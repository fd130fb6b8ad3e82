"""One thing of the simulated home: its class, where it is, what state it is in."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.states import ObjectState
from memory_node.sim.object_types import ObjectType

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
