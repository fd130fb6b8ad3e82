"""Tells which calls bring a goal about, by what their skills are declared to do, and which serve no goal."""

from __future__ import annotations

from collections.abc import Collection

from benchmarks.ranking.goal_needs import GoalNeeds
from memory_node.domain.goal_labels import GOALS, GoalKind
from memory_node.domain.skill import SkillCall
from memory_node.planner.goal import Goal
from memory_node.world.state import Thing, WorldState

# Skills that turn to a thing before anything is done with it, for a hand that is empty and for one that is not. An
# empty hand may open in advance what something is to be put into.
_TURNS_EMPTY = frozenset({"GoToObject", "PickupObject"})
_TURNS_FULL = frozenset({"GoToObject", "OpenObject", "CloseObject"})


def fulfils(call: SkillCall, goal: Goal, state: WorldState) -> bool:
    """Return whether a call that can be made now does what a goal asks for, or the last but one part of it."""
    things, needs = [state.named(argument) for argument in call.arguments], GoalNeeds(goal, state)
    subject, place = (things[0], things[-1]) if things else (None, None)
    if subject is None or place is None:
        return False
    if call.skill == "PutObject":
        return needs.puts(subject, place)
    if call.skill == "SliceObject":
        return needs.is_cut(subject)
    if goal.kind is GoalKind.EXAMINE and call.skill in ("SwitchOn", "ToggleOn"):
        return needs.is_light(subject)
    return call.skill in GOALS[goal.kind].skills and needs.is_target(subject)


def is_in_vain(call: SkillCall, goals: Collection[Goal], state: WorldState) -> bool:
    """Return whether a call serves none of the goals that are not met: it looks for what none of them is about, turns
    to what has no part in any, shuts away what one needs, or puts down elsewhere what one needs in the hand. What frees
    the hand of anything else is not in vain."""
    needs = [GoalNeeds(goal, state) for goal in goals]
    if call.skill == "Explore":
        return not any(one.names(call.arguments[0]) for one in needs)
    subject, held = (
        state.named(call.arguments[0]) if call.arguments else None,
        state.things.get(state.held or ""),
    )
    if subject is None:
        return False
    if held is None:
        return _is_in_vain_for_an_empty_hand(call.skill, subject, needs)
    if not any(one.keeps_in_hand(held) for one in needs):
        return False
    if call.skill == "PutObject":
        place = state.named(call.arguments[-1])
        return place is not None and not any(_takes(place, held, one) for one in needs)
    return call.skill in _TURNS_FULL and not any(_goes_on_at(subject, held, one) for one in needs)


def _is_in_vain_for_an_empty_hand(skill: str, subject: Thing, needs: Collection[GoalNeeds]) -> bool:
    if skill == "CloseObject":
        return any(one.shuts_away(subject) for one in needs)
    return skill in _TURNS_EMPTY and not any(one.has_part(subject) or one.may_hide(subject) for one in needs)


def _goes_on_at(subject: Thing, held: Thing, needs: GoalNeeds) -> bool:
    """Return whether there is something to do for a goal at a thing, or in it, with another in the hand."""
    if not needs.carries(held):
        return needs.has_part(subject)
    return any(_takes(one, held, needs) or needs.is_light(one) for one in needs.with_contents(subject))


def _takes(place: Thing, held: Thing, needs: GoalNeeds) -> bool:
    """Return whether a goal wants a thing in or on some place: to stay, or to be treated there."""
    return needs.puts(held, place) or needs.treats_at(place)
