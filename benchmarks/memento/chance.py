"""What chance alone comes to: a thing in view, taken anywhere, as often as such a task takes."""

from __future__ import annotations

import random
from collections.abc import Sequence

from memory_node.catalogue.class_name import folded
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import SkillCall
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanRun

CHANCE = "chance"
_MOST_THINGS = 3  # that a task of MEMENTO moves


class ChancePlanner:
    """A `Planner` that goes through the rooms, and then takes things that it has seen to furniture, drawn at random."""

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the calls; the instruction only makes the draw."""
        drawn = random.Random(f"{self._seed} {instruction}")
        for room in situation.scene().rooms:
            yield PlannedStep(SkillCall("GoToObject", (f"{room.center[0]:.2f},{room.center[1]:.2f}",)))
        for _ in range(drawn.randint(1, _MOST_THINGS)):
            there = sorted((one for one in situation.scene().objects if not one.removed), key=lambda one: one.id)
            things = [one for one in there if one.movable]
            places = [one for one in there if not one.movable and folded(one.class_name) != "floor"]
            if not (things and places):
                break
            for call in _moved(drawn.choice(things), drawn.choice(places)):
                yield PlannedStep(call)
        return PlanOutcome((instruction,), (False,), planner=CHANCE)


def _moved(thing: SceneObject, place: SceneObject) -> Sequence[SkillCall]:
    said = [str(ObjectReference.at(one.class_name, one.box.center)) for one in (thing, place)]
    return (
        SkillCall("GoToObject", (said[0],)),
        SkillCall("PickupObject", (said[0],)),
        SkillCall("GoToObject", (said[1],)),
        SkillCall("PutObject", (said[0], said[1])),
    )
