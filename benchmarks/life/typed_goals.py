"""Typed goals of a scenario as a planner takes them: an id is what memory remembers at that thing's true place."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.life.day_form import GoalForm
from benchmarks.life.home import USER
from benchmarks.life.placing import USER_CLASS, pieces_of, room_called
from benchmarks.life.sightings import remembered_as
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill_library import GoalKind
from memory_node.memory import RobotMemory
from memory_node.planner.goal import Goal, Mention
from memory_node.sim.world import World


def typed_goals(
    forms: Sequence[GoalForm], world: World, memory: RobotMemory, kinds: ObjectCatalogue
) -> tuple[Goal, ...]:
    """Return a scenario's typed goals in the planner's terms."""

    def mention(name: str) -> Mention | None:
        if not name:
            return None
        room = room_called(world, name) if name not in world else None
        if room is not None:
            return Mention(room.name, (), room=room.name)
        things = pieces_of(world, USER if name == USER_CLASS else name)
        if not things:
            kind = kinds.find(name)
            return Mention(name, (kind.name if kind is not None else name,))
        thing_id = remembered_as(memory, things[0])
        return Mention(things[0].class_name, (things[0].class_name,), thing_id=thing_id)

    return tuple(_goal(form, mention(form.object), mention(form.place)) for form in forms)


def _goal(form: GoalForm, target: Mention | None, place: Mention | None) -> Goal:
    """Return one goal; a place is the lamp, the container or the destination, as its kind has it."""
    target = target or place or Mention("")
    if form.kind is GoalKind.EXAMINE:
        return Goal(form.kind, target, light=place, count=form.number)
    if form.kind is GoalKind.GO:
        return Goal(form.kind, target)
    return Goal(form.kind, target, place, count=form.number)
