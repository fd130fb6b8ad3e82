"""A small home in a scene graph: what stands where, who is there."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Area, Room, SceneObject, SceneSnapshot
from memory_node.domain.states import ObjectState, StateBelief


def thing(
    name: str,
    class_name: str,
    at: tuple[float, float, float] = (0.0, 0.0, 0.8),
    on: str = "",
    area: str = "a1",
    called: str = "",
    states: tuple[ObjectState, ...] = (),
    seen_ns: int = 1,
) -> SceneObject:
    """Return one object of the scene."""
    return SceneObject(
        name,
        {class_name: 1.0},
        OrientedBox(np.array(at), np.full(3, 0.2)),
        np.eye(3) * 1e-4,
        0.9,
        1,
        seen_ns,
        support_id=on,
        area_id=area,
        states=tuple(StateBelief(state, 0.9, 1, "skill") for state in states),
        attributes={"name": called} if called else {},
    )


def home(*things: SceneObject) -> SceneSnapshot:
    """Return a snapshot of two rooms with furniture, two appliances, the user and some things."""
    furniture = (
        thing("desk", "Desk", (5.0, 0.0, 0.5), area="a2"),
        thing("counter", "CounterTop", (0.0, 3.0, 0.5)),
        thing("microwave", "Microwave", (0.0, 3.5, 1.0)),
        thing("oven", "Oven", (1.0, 3.5, 0.5)),
        thing("bowl", "Bowl", (2.0, 3.0, 0.9)),
        thing("user", "User", (3.0, 0.0, 0.5), area="a2"),
        thing("kim", "User", (4.0, 0.0, 0.5), area="a2", called="Kim"),
    )
    rooms = (Room("r1", "kitchen", "f", (0.0, 3.0)), Room("r2", "study", "f", (5.0, 0.0)))
    areas = (Area("a1", "area 1", (0.0, 3.0), "f", "r1"), Area("a2", "area 2", (5.0, 0.0), "f", "r2"))
    return SceneSnapshot(10, rooms=rooms, areas=areas, objects=(*furniture, *things))
