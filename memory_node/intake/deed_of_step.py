"""What a step did with which thing of the scene graph."""

from __future__ import annotations

from memory_node.domain.deed import Deed
from memory_node.domain.errors import NotFoundError
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.step import StepRecord
from memory_node.intake.meant_object import meant_object
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID

# Skills that only lead to a thing.
_NO_DEEDS = frozenset({"Explore", "GoToObject"})

# What may lie in the place itself, and not in what the robot does there.
_OF_THE_PLACE = frozenset({FailureReason.UNREACHABLE, FailureReason.PRECONDITION})


def deed_of(step: StepRecord, scene: SceneGraph, carried: Deed | None) -> Deed | None:
    """Return the deed of a step that has just ended; None where it only led to a thing, or failed for a cause that is
    declared.

    carried: by which the hand was last filled: a step may still call the thing by the place where it was taken.
    """
    arguments = step.action.arguments
    if step.action.skill in _NO_DEEDS or not arguments or not (step.success or _is_unexplained(step)):
        return None
    found = meant_object(arguments[0], scene, carried=True)
    if found is None and carried is not None and carried.object_class == arguments[0].partition("@")[0]:
        found = _known(carried.object_id, scene)
    # What was cut is no more, and its deed is told all the same.
    found = found or _known(arguments[0], scene)
    class_name = found.class_name if found is not None else arguments[0].partition("@")[0]
    before = _known(found.history[-1].support_id, scene) if found is not None and found.history else None
    if step.action.skill == "PutObject" and step.success and found is not None and found.support_id != ROBOT_ID:
        to = _known(found.support_id, scene)
    else:
        to = meant_object(arguments[1], scene) if len(arguments) > 1 else None
    return Deed(
        f"{step.episode_id}:{step.index}",
        step.action.skill,
        found.id if found is not None else "",
        class_name,
        step.stamp_ns,
        before.id if before is not None else "",
        before.class_name if before is not None else "",
        to.id if to is not None else "",
        to.class_name if to is not None else arguments[1].partition("@")[0] if len(arguments) > 1 else "",
        "" if step.success else str(step.reason),
    )


def _is_unexplained(step: StepRecord) -> bool:
    """Return whether a step failed although nothing that is declared was missing: a locked door, a shelf too high."""
    skill = SKILLS.get(step.action.skill)
    declared = skill is not None and any(rule.reason is step.reason for rule in skill.preconditions)
    return step.reason.by_chance or (step.reason in _OF_THE_PLACE and not declared)


def _known(object_id: str, scene: SceneGraph) -> SceneObject | None:
    try:
        return scene.object(object_id) if object_id and object_id != ROBOT_ID else None
    except NotFoundError:
        return None
