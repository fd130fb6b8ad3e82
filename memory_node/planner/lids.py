"""What turned out to be closed or was opened while an instruction is carried out, and what turned out to lie in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Belief
from memory_node.world.state import Thing

# What a thing is shut in has its middle so near (m) to the thing, at most: half of a wide cabinet, and some error.
_REACH_M = 1.0


@dataclass
class Lids:
    """By the names that a model knows things by. shut: what is closed. opened: what the robot reported to have opened,
    also where memory has not seen it open yet. inside: (thing, what it is shut in)."""

    shut: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    inside: dict[str, str] = field(default_factory=dict)

    def note_closed(self, name: str, lid: str = "") -> None:
        """Take in that a thing is closed; lid: what it is shut in, where the thing itself does not open."""
        self.shut.add(lid or name)
        self.opened.discard(lid or name)
        if lid:
            self.inside[name] = lid

    def note_opened(self, name: str) -> None:
        """Take in that a thing is open: what lies in it can be reached."""
        self.shut.discard(name)
        self.opened.add(name)

    def note_taken(self, name: str) -> None:
        """Take in that a thing was taken out of what it was shut in."""
        self.inside.pop(name, None)

    def note_used(self, name: str) -> None:
        """Take in that something was put in or on a thing: it is not closed any more."""
        if name in self.shut:
            self.note_opened(name)

    def state_of(self, name: str) -> ObjectState | None:
        """Return whether a thing is open or closed, None where its lid was not touched."""
        if name in self.shut:
            return ObjectState.CLOSED
        return ObjectState.OPENED if name in self.opened else None

    def leading(
        self, calls: Mapping[str, SkillCall], belief: Belief, is_wanted: Callable[[str], bool]
    ) -> dict[str, SkillCall]:
        """Return those of some calls that lead to what a wanted thing is shut in, or to another thing of its class."""
        over = {name: lid for name, lid in self.inside.items() if lid in self.shut and is_wanted(name)}
        lids, classes = set(over.values()), {folded(belief.things[name].object_class) for name in over}

        def leads_on(call: SkillCall) -> bool:
            things = filter(None, map(belief.named, call.arguments))
            return any(thing.id in lids or folded(thing.object_class) in classes for thing in things)

        return {text: call for text, call in calls.items() if leads_on(call)}


def lid_over(
    thing: Thing, robot_id: str, known: Mapping[str, SceneObject], kinds: ObjectCatalogue, things: Iterable[Thing]
) -> SceneObject | None:
    """Return what a thing that could not be reached is shut in, as memory knows it: what the robot names, else the
    thing's own support or the nearest that has a lid; None where the thing itself is closed or nothing is near.

    robot_id: the robot's own id of the closed one, or "". known: by memory's ids. things: those that the robot knows.
    """
    shut_in = known.get(thing.memory_id)
    if shut_in is None or robot_id in thing.identities or not kinds[thing.object_class].pickupable:
        return None
    if robot_id in known:
        return known[robot_id]
    others = {one.memory_id for one in things if robot_id and one.object_id not in ("", robot_id)}

    def may_be(found: SceneObject) -> bool:
        kind = kinds.get(found.class_name)
        return kind is not None and kind.lidded and found.id not in others

    support = known.get(shut_in.support_id)
    return support if support is not None and may_be(support) else _nearest(shut_in, filter(may_be, known.values()))


def _nearest(thing: SceneObject, others: Iterable[SceneObject]) -> SceneObject | None:
    distances = [(float(np.linalg.norm(one.box.center - thing.box.center)), one.id, one) for one in others]
    distance, _, nearest = min(distances, default=(np.inf, "", None))
    return nearest if distance <= _REACH_M else None
