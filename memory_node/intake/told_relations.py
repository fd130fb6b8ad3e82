"""Turns the relations that a step reports ("Plate in Cabinet") into changes of the scene graph. The effects of its
skill are not handled here: skills report these themselves."""

from __future__ import annotations

import re

import numpy as np

from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.step import StepRecord
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID

_SURE = 0.9
_SAID = re.compile(r"(\S+) (on|in) (\S+)")


def told_relations(step: StepRecord, scene: SceneGraph) -> tuple[StateChange, ...]:
    """Return what a step's relations tell of things on and in others that the graph does not hold yet.

    If memory knows several such things and none is in reach, the relation is ignored.
    """
    changes = []
    for relation in step.relations:
        said = _SAID.fullmatch(relation)
        if said is None or said.group(1) == step.held_object:
            continue
        told, inside = said.group(1), said.group(2) == "in"
        support = scene.meant(said.group(3), _robot(step))
        thing = scene.meant(told, _robot(step))
        name = told.partition("@")[0]
        if support is None or (thing is None and scene.objects_of_class(name)):
            continue
        if thing is not None and not _is_news(thing, support, inside, step):
            continue
        changes.append(
            StateChange(
                object_id=thing.id if thing is not None else "",
                object_class=thing.class_name if thing is not None else name,
                stamp_ns=step.stamp_ns,
                support_id=support.id,
                inside=inside,
                position=_kept_position(thing, support),
                source="episode",
                probability=_SURE,
            )
        )
    return tuple(changes)


def _robot(step: StepRecord) -> tuple[float, float, float] | None:
    # A step whose teller does not know where the robot was carries the origin.
    return step.position if any(step.position) else None


def _is_news(thing: SceneObject, support: SceneObject, inside: bool, step: StepRecord) -> bool:
    known = (thing.support_id, thing.inside) == (support.id, inside)
    # What the camera saw since then is more recent than the step.
    return not known and thing.support_id != ROBOT_ID and thing.last_seen_ns <= step.stamp_ns


def _kept_position(thing: SceneObject | None, support: SceneObject) -> tuple[float, float, float] | None:
    """Return where the thing was seen, if that agrees with the support: more precise than the support's middle."""
    if thing is None or thing.support_id == ROBOT_ID:
        return None
    x, y, z = (float(value) for value in thing.box.center)
    return (x, y, z) if bool(support.box.contains(np.array([[x, y, support.box.center[2]]]))[0]) else None
