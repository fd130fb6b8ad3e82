"""Adds to a step what memory knows of its surroundings: room, area, and what the thing was on or in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill_library import ObjectReference
from memory_node.domain.step import StepRecord
from memory_node.scene_graph.graph import SceneGraph

_SAME_THING_M = 1.0


def with_surroundings(step: StepRecord, scene: SceneGraph) -> StepRecord:
    """Return the step with room, area and relations filled in where its teller left all of them open."""
    if step.room or step.area or step.relations or not step.action.arguments:
        return step
    found = _thing(step, scene)
    if found is None:
        return step
    area = scene.places.areas.get(found.area_id)
    room = scene.places.rooms.get(area.room_id) if area is not None else None
    return replace(
        step,
        area=area.name if area is not None else "",
        room=room.name if room is not None else "",
        relations=_relations(step, found, scene),
    )


def _thing(step: StepRecord, scene: SceneGraph) -> SceneObject | None:
    """Return the remembered object that the step's first argument names, None where that is not certain."""
    try:
        reference = ObjectReference.parse(step.action.arguments[0])
    except InvalidValueError:
        return None
    alike = [found for found in scene.objects() if found.class_name == reference.object_class]
    if reference.position is None or len(alike) < 2:
        return alike[0] if len(alike) == 1 else None
    far = {found.id: float(np.linalg.norm(found.box.center - reference.position)) for found in alike}
    nearest = min(alike, key=lambda found: far[found.id])
    # A thing that was carried away is where it was put; its reference still names where it was taken from.
    moved = [found for found in alike if found.support_id == "robot"]
    return nearest if far[nearest.id] <= _SAME_THING_M else (moved[0] if moved else None)


def _relations(step: StepRecord, found: SceneObject, scene: SceneGraph) -> tuple[str, ...]:
    """Return "Apple on DiningTable" for where the thing is, or was until it was picked up."""
    support_id, inside = found.support_id, found.inside
    if step.action.skill == "PickupObject" and found.history:
        support_id, inside = found.history[-1].support_id, False
    try:
        support = scene.object(support_id)
    except NotFoundError:
        return ()
    return (f"{found.class_name} {'in' if inside else 'on'} {support.class_name}",)
