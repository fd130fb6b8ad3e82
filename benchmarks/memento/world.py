"""The state of a symbolic home: what stands where and what the hand holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.memento.floor_plan import FloorPlan, Furniture, class_name_of
from benchmarks.memento.tasks import Task
from memory_node.domain.geometry import OrientedBox


@dataclass
class Standing:
    """A thing of the home. at: the furniture's id, "" in the hand. box: where it is, or was taken from."""

    id: str
    class_name: str
    caption: str
    at: str
    box: OrientedBox


class SymbolicWorld:
    """The things of one task on the furniture of one home. moved: the ids of things that were ever taken."""

    def __init__(self, plan: FloorPlan, task: Task) -> None:
        self.plan = plan
        self.things: dict[str, Standing] = {}
        self.held: Standing | None = None
        self.moved: set[str] = set()
        for one in task.objects:
            box = self.free_spot(plan.furniture[one.at])
            self.things[one.id] = Standing(one.id, class_name_of(one.class_name), one.caption, one.at, box)

    def free_spot(self, furniture: Furniture) -> OrientedBox:
        """Return the first place on a piece of furniture on which nothing stands."""
        taken = [thing.box.center for thing in self.on(furniture.id)]
        number = 0
        while any(np.allclose(furniture.spot(number).center, center) for center in taken):
            number += 1
        return furniture.spot(number)

    def on(self, furniture_id: str) -> list[Standing]:
        """Return what stands on or in a piece of furniture."""
        return [thing for thing in self.things.values() if thing.at == furniture_id]

    def room_of(self, thing: Standing) -> str:
        """Return the room that a thing stands in, "" in the hand."""
        return self.plan.furniture[thing.at].room if thing.at else ""

    def in_room(self, room: str) -> list[Standing]:
        """Return the things of a room."""
        return [thing for thing in self.things.values() if self.room_of(thing) == room]

    def grasp(self, thing: Standing) -> None:
        """Take a thing into the hand."""
        self.held, thing.at = thing, ""
        self.moved.add(thing.id)

    def release(self, furniture: Furniture) -> None:
        """Put what the hand holds on a piece of furniture."""
        assert self.held is not None
        thing, self.held = self.held, None
        thing.box = self.free_spot(furniture)
        thing.at = furniture.id
