"""Tells which calls bring a goal about, by what their skills are declared to do, and which serve no goal."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GOAL_OF_SKILL, GoalKind
from memory_node.domain.skill import SkillCall
from memory_node.planner.belief import Belief, Thing
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.goal_check import WANTED_STATES

_K = GoalKind
# Skills that turn to a thing before anything is done with it, for a hand that is empty and for one that is not. An
# empty hand may open in advance what something is to be put into.
_TURNS_EMPTY = frozenset({"GoToObject", "PickupObject"})
_TURNS_FULL = frozenset({"GoToObject", "OpenObject", "CloseObject"})
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
_IN_HAND = frozenset({_K.FETCH, _K.EXAMINE})
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


def is_in_vain(call: SkillCall, goals: Collection[Goal], belief: Belief) -> bool:
    """Return whether a call serves none of the goals that are not met: it turns to what has no part in any of them, or
    puts down elsewhere what one of them needs in the hand. What frees the hand of anything else is not in vain."""
    subject, held = belief.named(call.arguments[0]) if call.arguments else None, belief.things.get(belief.state.held)
    if subject is None:
        return False
    if held is None:
        return call.skill in _TURNS_EMPTY and not any(_has_part(subject, goal, belief) for goal in goals)
    if not any(_is_carried(held, goal, belief) or _cuts_for(held, goal, belief) for goal in goals):
        return False
    if call.skill == "PutObject":
        return not any(_takes(belief.named(call.arguments[-1]), held, goal, belief) for goal in goals)
    return call.skill in _TURNS_FULL and not any(_goes_on_at(subject, held, goal, belief) for goal in goals)


def _goes_on_at(subject: Thing, held: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether there is something to do for a goal at a thing with another in the hand."""
    if not _is_carried(held, goal, belief):
        return _has_part(subject, goal, belief)
    lights = goal.light.candidates if goal.light is not None else ()
    return _takes(subject, held, goal, belief) or _is_one_of(subject, lights)


def _has_part(thing: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether a goal is about a thing, or about something in or on it."""
    return any(_is_about(one, goal, belief) for one in _with_contents(thing, belief))


def _is_carried(thing: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether a goal wants a thing, as it is now, in the hand or in a certain place."""
    where = goal.destination
    if where is not None and (where.beside or where.original_place or not where.candidates):
        return False  # any place may be the one
    is_wanted = _is_one_of(thing, _forms(goal, belief)) or _is_full_container(thing, goal, belief)
    return goal.kind in _CARRIED | _IN_HAND and is_wanted


def _takes(place: Thing | None, subject: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether a goal wants a thing in or on some place: to stay, or to be treated there."""
    if place is None or _puts_there(subject, place, goal, belief):
        return True
    treatment = belief.kinds.meant_treatment(goal.kind, goal.treatment)
    return treatment is not None and _is_one_of(place, (*treatment.at, *treatment.vessels))


def _is_about(thing: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether a goal is about a thing, but for where it wants others to be, or needs it for its treatment."""
    treatment = belief.kinds.meant_treatment(goal.kind, goal.treatment)
    mentions = filter(None, (goal.target, goal.container, goal.light))
    named = [name for mention in mentions for name in (*mention.candidates, *mention.stand_ins)]
    vessels = treatment.vessels if treatment is not None else ()
    return _is_one_of(thing, (*named, *_forms(goal, belief), *vessels)) or _cuts_for(thing, goal, belief)


def _cuts_for(tool: Thing, goal: Goal, belief: Belief) -> bool:
    return belief.kinds[tool.object_class].can(Property.CUTS) and _is_cut_wanted(goal, belief)


def _with_contents(thing: Thing, belief: Belief) -> Iterable[Thing]:
    """Return a thing and all that is in or on it."""
    names = [thing.name]
    for name in names:
        names += [inner for inner, outer in belief.state.inside if outer == name and inner not in names]
    return (belief.things[name] for name in names if name in belief.things)


def _cuts(subject: Thing, goal: Goal, belief: Belief) -> bool:
    return _is_one_of(subject, goal.target.candidates) and _is_cut_wanted(goal, belief)


def _is_cut_wanted(goal: Goal, belief: Belief) -> bool:
    """Return whether a goal wants something cut, or pieces of it while none are known."""
    if goal.kind is GoalKind.SLICE:
        return True
    return goal.sliced and not any(_is_one_of(thing, _forms(goal, belief)) for thing in belief.things.values())


def _puts_there(subject: Thing, place: Thing, goal: Goal, belief: Belief) -> bool:
    """Return whether a goal wants a thing, as it is now, in or on that place."""
    where = _destination(subject, goal, belief)
    if where is None or where.beside or where.original_place or goal.kind not in _CARRIED:
        return False
    begun = _begun(goal, where, belief) if goal.kind is GoalKind.PLACE_TWO else set()
    return place.name in begun if begun else _is_place(place, where, belief)


def _begun(goal: Goal, where: Mention, belief: Belief) -> set[str]:
    """Return the names of the places that a goal means and that have a thing already which it wants there."""
    things, inside = belief.things, belief.state.inside
    placed = {outer for inner, outer in inside if inner in things and _is_one_of(things[inner], _forms(goal, belief))}
    return {name for name in placed if name in things and _is_place(things[name], where, belief)}


def _is_place(place: Thing, where: Mention, belief: Belief) -> bool:
    return _is_one_of(place, belief.kinds.with_wholes(where.candidates))


def _destination(subject: Thing, goal: Goal, belief: Belief) -> Mention | None:
    """Return where a goal wants a thing next: a target, once it is as wanted, in the container; that with a target in
    it at the destination. None for nowhere yet."""
    if _is_one_of(subject, _forms(goal, belief)):
        states = WANTED_STATES.get(goal.kind)
        is_ready = states is None or any(belief.state.has(subject.name, state) for state in states)
        return (goal.container or goal.destination) if is_ready else None
    return goal.destination if _is_full_container(subject, goal, belief) else None


def _is_full_container(thing: Thing, goal: Goal, belief: Belief) -> bool:
    if goal.container is None or not _is_one_of(thing, goal.container.candidates):
        return False
    return any(_is_one_of(inner, _forms(goal, belief)) for inner in _with_contents(thing, belief))


def _forms(goal: Goal, belief: Belief) -> Collection[str]:
    """Return the classes of what a goal is about: of the things, or of their pieces."""
    names = goal.target.candidates
    return tuple(filter(None, (belief.kinds[name].slices for name in names))) if goal.sliced else names


def _is_one_of(thing: Thing, names: Iterable[str]) -> bool:
    return folded(thing.object_class) in set(map(folded, names))
