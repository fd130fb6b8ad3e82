"""Adds to a step what memory knows of its surroundings: room, area, and what the thing was on or in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memory_node.domain.errors import NotFoundError
from memory_node.domain.scene import SceneObject
from memory_node.domain.step import StepRecord
from memory_node.episodes.class_actions import class_arguments
from memory_node.intake.meant_object import meant_object
from memory_node.scene_graph.graph import SceneGraph


def with_surroundings(step: StepRecord, scene: SceneGraph, key_classes: Iterable[str] = ()) -> StepRecord:
    """Return the step with room, area, what is visible and relations filled in where its teller left all of them open.

    key_classes: what the episode has been about so far; of such things those count as visible that are in the same
    area. All other things there would make each state a new one.
    """
    if step.room or step.area or step.relations or step.visible or not step.action.arguments:
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
        visible=_visible(step, found, scene, key_classes),
        relations=_relations(step, found, scene),
    )


def _visible(step: StepRecord, found: SceneObject, scene: SceneGraph, key_classes: Iterable[str]) -> tuple[str, ...]:
    """Return the classes of key objects in the thing's area, but for the thing itself and what is hidden or held."""
    wanted = {*key_classes, *class_arguments(step)} - {found.class_name, step.held_object}
    table = scene.state.table
    rows = [row for row in scene.state.active_rows().tolist() if not table.sheltered[row]]
    here = {table.record(row).best_class for row in rows if table.record(row).area_id == found.area_id != ""}
    return tuple(sorted(here & wanted))


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
