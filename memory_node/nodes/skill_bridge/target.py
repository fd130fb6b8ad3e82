"""What a skill is about, as the bridge sees it: a remembered thing, and the thing in the hand.

Base and arm need an oriented box in map and how the hand grips, which no `WorldState` has; whether a skill may be done
is asked of a `WorldState` made of them (preconditions.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from memory_node.domain.answer import ObjectAnswer
from memory_node.domain.geometry import FloatArray, OrientedBox
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import ObjectReference, StateChange
from memory_node.domain.states import ObjectState, believed
from memory_node.scene_graph.state import ROBOT_ID

# A remembered place may be this far from the thing that it is about.
SAME_PLACE_M = 0.75
# A thing outside these heights above the robot's ground is on another floor (m).
_ON_THIS_FLOOR_M = (-0.5, 2.6)


def is_on_another_floor(position: FloatArray, base: FloatArray) -> bool:
    """Return whether a place is on another floor than the robot's base; both (x, y, z) in map."""
    low_m, high_m = _ON_THIS_FLOOR_M
    return not low_m <= position[2] - base[2] <= high_m


@dataclass(frozen=True, eq=False)
class Target:
    """A thing: memory's id, its box in map, the states that are believed, and what it is on or (`inside`) in."""

    object_id: str
    object_class: str
    box: OrientedBox
    states: frozenset[ObjectState] = frozenset()
    support_id: str = ""
    inside: bool = False

    @classmethod
    def of_answer(cls, answer: ObjectAnswer) -> Target:
        """Return what memory answered."""
        box = OrientedBox(answer.position, answer.size, answer.yaw_rad)
        states = frozenset(believed(answer.states))
        return cls(answer.object_id, answer.object_class, box, states, answer.support_id, answer.inside)

    @classmethod
    def of_scene_object(cls, found: SceneObject) -> Target:
        """Return an object of the scene graph."""
        states = frozenset(believed(found.states))
        return cls(found.id, found.class_name, found.box, states, found.support_id, found.inside)

    @property
    def reference(self) -> str:
        """The thing as Class@x,y,z, which means the same to every executor."""
        return str(ObjectReference.at(self.object_class, self.box.center))

    def after(self, change: StateChange) -> Target:
        """Return the thing after a change."""
        ended = {*change.removed, *(other for state in change.added for other in state.opposites)}
        box = self.box
        if change.position is not None:
            box = OrientedBox(np.array(change.position), box.size, box.yaw_rad)
        moved = change.held is not None
        return replace(
            self,
            box=box,
            states=frozenset((self.states - ended) | set(change.added)),
            support_id=change.support_id if moved else self.support_id,
            inside=change.inside if moved else self.inside,
        )


@dataclass(frozen=True, eq=False)
class Grip:
    """How a thing is held: the tool came from above or from the front, and is this far above the thing's centre."""

    from_above: bool = True
    tool_above_m: float = 0.0


class Hand:
    """What the hand holds: what memory says when the node starts, then by the skills that it runs."""

    def __init__(self) -> None:
        self.held: Target | None = None
        self.grip = Grip()
        self.known = False

    def recall(self, objects: Iterable[SceneObject]) -> None:
        """Take over what memory says that the robot holds."""
        self.held = next((Target.of_scene_object(one) for one in objects if one.support_id == ROBOT_ID), None)
        self.known = True

    @property
    def held_class(self) -> str:
        """The class of what is held, "" when the hand is empty."""
        return self.held.object_class if self.held is not None else ""

    def take(self, target: Target, grip: Grip | None = None) -> None:
        """Hold a thing; its box stays where it was taken from."""
        self.held, self.grip, self.known = target, grip or Grip(), True

    def release(self) -> None:
        """Hold nothing."""
        self.held, self.known = None, True

    def forget(self) -> None:
        """Forget what is held; memory is asked again."""
        self.held, self.known = None, False

    def holds(self, text: str) -> bool:
        """Return whether an argument names what is held: by id, by class, or by class and where it was taken from."""
        if self.held is None:
            return False
        if text in (self.held.object_id, self.held.object_class):
            return True
        reference = ObjectReference.parse(text)
        if reference.position is None or reference.object_class != self.held.object_class:
            return False
        return float(np.linalg.norm(self.held.box.center[:2] - reference.position[:2])) <= SAME_PLACE_M
