"""Holds goals against what can be done with things: trained readers do not know it, people who give commands do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention

_SWITCHING = (GoalKind.SWITCH_ON, GoalKind.SWITCH_OFF)


def impossibility(goals: Sequence[Goal], kinds: ObjectCatalogue) -> str:
    """Return what cannot be done, in one sentence: something is put into what holds nothing, carried in what stands
    fast, cut, or switched; "" where all can be done."""
    return next((why for goal in goals for why in _impossibilities(goal, kinds)), "")


def into_itself(goals: Sequence[Goal]) -> str:
    """Return the objection that something is put into itself, in one sentence; "" where nothing is."""
    for goal in goals:
        chain = [one for one in (goal.target, goal.container, goal.destination) if one is not None and one.candidates]
        itself = next((one for one, outer in pairwise(chain) if one.object_class == outer.object_class), None)
        if itself is not None:
            return f"{itself} cannot be put into itself"
    return ""


def _impossibilities(goal: Goal, kinds: ObjectCatalogue) -> Iterator[str]:
    place, container = goal.destination, goal.container
    if place is not None and not place.beside and place.candidates and not _holds(place, kinds):
        yield f"nothing can be put into {place}"
    if container is not None and not (_holds(container, kinds) and kinds[container.object_class].pickupable):
        yield f"nothing is carried in {container}"
    if (goal.sliced or goal.kind is GoalKind.SLICE) and goal.target.object_class and not _is_cut(goal.target, kinds):
        yield f"{goal.target} cannot be cut"
    if (
        goal.kind in _SWITCHING
        and goal.target.object_class
        and not _may_be_switched(kinds[goal.target.object_class], kinds)
    ):
        yield f"{goal.target} has no switch"


def _holds(place: Mention, kinds: ObjectCatalogue) -> bool:
    return kinds[place.object_class].is_receptacle or place.object_class == kinds.recipient


def _is_cut(target: Mention, kinds: ObjectCatalogue) -> bool:
    name = target.object_class
    return bool(kinds[kinds.whole(name)].slices)


def _may_be_switched(thing: ObjectKind, kinds: ObjectCatalogue) -> bool:
    """Return whether a thing may have a switch: things to carry seldom have one, but a kettle may."""
    plugged = thing.can(Property.TOGGLEABLE) or kinds.is_kettle(thing.name)
    return not thing.pickupable or plugged or thing.name not in kinds
