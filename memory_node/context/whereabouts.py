"""Where the robot is, what it holds, and what stands near, on and in what around it, in words."""

from __future__ import annotations

from collections.abc import Collection

from memory_node.domain.scene import HeldObject, RelationKind
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.graph_readings import object_relations
from memory_node.scene_graph.state import ROBOT_ID

_SAID = {RelationKind.ON: "on", RelationKind.IN: "in", RelationKind.NEAR: "near"}
# More than this of one room is no guidance.
_MOST = 40


def held_object(scene: SceneGraph) -> HeldObject | None:
    """Return what the robot holds, None when nothing."""
    held = min(scene.state.contents.get(ROBOT_ID, ()), default="")
    return HeldObject(held, scene.class_of(held)) if held else None


def robot_room(scene: SceneGraph) -> str:
    """Return the name of the room that the camera was in last, "" when nobody knows."""
    if scene.camera_at is None:
        return ""
    return scene.room_name(scene.places.area_at(*scene.camera_at.tolist()))


def room_relations(scene: SceneGraph, room: str, about: Collection[str] = ()) -> tuple[str, ...]:
    """Return "Mug on DiningTable" for what is on, in and near what in a room; what is about these classes first."""
    areas = {
        area.id
        for area in scene.places.areas.values()
        if area.room_id in scene.places.rooms and scene.places.rooms[area.room_id].name == room
    }
    if not room or not areas:
        return ()
    state = scene.state
    rows = state.active_rows()
    inside = rows[[state.table.record(row).area_id in areas for row in rows.tolist()]]
    found: dict[str, tuple[bool, int]] = {}
    kinds = list(_SAID)
    for relation in object_relations(state, inside):
        if relation.kind not in _SAID or relation.target_id not in state.table.row_of:
            continue
        ends = [state.table.record(state.table.row(i)).best_class for i in (relation.source_id, relation.target_id)]
        beside = not any(end in about for end in ends)
        found[f"{ends[0]} {_SAID[relation.kind]} {ends[1]}"] = (beside, kinds.index(relation.kind))
    return tuple(sorted(found, key=lambda said: (*found[said], said))[:_MOST])
