"""Tells which calls bring a goal about, by what their skills are declared to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memory_node.catalogue.class_name import folded
from memory_node.domain.goal_labels import GOAL_OF_SKILL, GoalKind
from memory_node.domain.skill import SkillCall
from memory_node.planner.belief import Belief, Thing
from memory_node.planner.goal import Goal
from memory_node.planner.goal_check import WANTED_STATES

_K = GoalKind
# skill -> kinds of goals that one such call with their target brings about
_BROUGHT_ABOUT: dict[str, frozenset[GoalKind]] = {
    **{skill: frozenset({kind}) for skill, kind in GOAL_OF_SKILL.items()},
    "PickupObject": frozenset({_K.FETCH, _K.EXAMINE}),
    "OpenObject": frozenset({_K.OPEN}),
    "CloseObject": frozenset({_K.CLOSE}),
    "BreakObject": frozenset({_K.BREAK}),
    "ThrowObject": frozenset({_K.THROW}),
    **dict.fromkeys(("SwitchOn", "ToggleOn"), frozenset({_K.SWITCH_ON})),
    **dict.fromkeys(("SwitchOff", "ToggleOff"), frozenset({_K.SWITCH_OFF})),
}
_CARRIED = frozenset({_K.PLACE, _K.PLACE_TWO, _K.STACK, _K.CLEAN, _K.HEAT, _K.COOL})


def fulfils(call: SkillCall, goal: Goal, belief: Belief) -> bool:
    """Return whether a call that can be made now does what a goal asks for, or the last but one part of it."""
    things = [belief.named(argument) for argument in call.arguments]
    subject, place = (things[0], things[-1]) if things else (None, None)
    if subject is None or place is None:
        return False
    if call.skill == "PutObject":
        return _puts_there(subject, place, goal, belief)
    if call.skill == "SliceObject":
        return _cuts(subject, goal, belief)
    if goal.kind is GoalKind.EXAMINE and call.skill in ("SwitchOn", "ToggleOn"):
        return goal.light is not None and _is_one_of(subject, goal.light.candidates)
    return goal.kind in _BROUGHT_ABOUT.get(call.skill, ()) and _is_one_of(subject, _forms(goal, belief))


def _cuts(subject: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether a goal wants a thing cut, or pieces of it while none are known."""
    if not _is_one_of(subject, goal.target.candidates):
        return False
    if goal.kind is GoalKind.SLICE:
        return True
    return goal.sliced and not any(_is_one_of(thing, _forms(goal, belief)) for thing in belief.things.values())


def _puts_there(subject: Thing, place: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether a goal wants a thing, as it is now, in or on that place."""
    where = goal.container or goal.destination
    if where is None or where.beside or where.original_place or goal.kind not in _CARRIED:
        return False
    states = WANTED_STATES.get(goal.kind)
    is_ready = states is None or any(belief.state.has(subject.name, state) for state in states)
    return (
        is_ready
        and _is_one_of(subject, _forms(goal, belief))
        and _is_one_of(place, belief.kinds.with_wholes(where.candidates))
    )


def _forms(goal: Goal, belief: Belief) -> Collection[str]:
    """Return the classes of what a goal is about: of the things, or of their pieces."""
    names = goal.target.candidates
    return tuple(filter(None, (belief.kinds[name].slices for name in names))) if goal.sliced else names


def _is_one_of(thing: Thing, names: Iterable[str]) -> bool:
    return folded(thing.object_class) in set(map(folded, names))
