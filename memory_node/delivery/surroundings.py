"""Adds to a step what memory knows of its surroundings: room, area, and what the thing was on or in."""

from __future__ import annotations

from dataclasses import replace

from memory_node.delivery.meant_object import meant_object
from memory_node.domain.errors import NotFoundError
from memory_node.domain.scene import SceneObject
from memory_node.domain.step import StepRecord
from memory_node.scene_graph.graph import SceneGraph


def with_surroundings(step: StepRecord, scene: SceneGraph) -> StepRecord:
    """Return the step with room, area and relations filled in where its teller left all of them open."""
    if step.room or step.area or step.relations or not step.action.arguments:
        return step
    carried = step.action.skill == "PutObject" or (step.action.skill == "PickupObject" and step.success)
    found = meant_object(step.action.arguments[0], scene, carried=carried)
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
