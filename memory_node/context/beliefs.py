"""Judges declared facts by a brief state: true, false or unknown."""

from __future__ import annotations

from collections.abc import Mapping

from memory_node.context.brief_state import BriefState, Section
from memory_node.context.statements import (
    close_by,
    held_by,
    is_in_state,
    is_inside,
    out_of_reach,
    place_of,
    place_of_robot,
)
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState


def binding_of(call: SkillCall) -> dict[str, str]:
    """Return argument name -> what the call gives for it; empty for a skill that is not in the library."""
    skill = SKILLS.get(call.skill)
    return {argument.name: text for argument, text in zip(skill.arguments, call.arguments)} if skill else {}


def verdict(fact: Fact, binding: Mapping[str, str], state: BriefState) -> bool | None:
    """Return whether a fact about named things is believed; None: nobody knows."""
    names = [binding.get(argument, "") for argument in fact.arguments]
    if fact.arguments and not names[0]:
        return None
    believed = _believed(fact, names, state)
    return None if believed is None else believed is fact.value


def _believed(fact: Fact, names: list[str], state: BriefState) -> bool | None:
    if fact.predicate in (Predicate.HAND_EMPTY, Predicate.HOLDING):
        held = held_by(state)
        wanted = names[0] if fact.predicate is Predicate.HOLDING else ""
        return None if held is None else held == wanted
    if fact.predicate is Predicate.NEAR:
        return _is_near(names[0], state)
    if fact.predicate is Predicate.ACCESSIBLE:
        place = place_of(names[0], state)
        shut = is_inside(names[0], state) and _state_of(place, ObjectState.CLOSED, state)
        return False if shut else None
    if fact.predicate is Predicate.OPEN_OR_UNLIDDED:
        return _state_of(names[0], ObjectState.OPENED, state)
    if fact.predicate is Predicate.CONTAINED and len(names) > 1:
        place = place_of(names[0], state)
        return place == names[1] if place else None
    if fact.predicate is Predicate.STATE and fact.state is not None:
        return _state_of(names[0], fact.state, state)
    return None


def _is_near(name: str, state: BriefState) -> bool | None:
    """Return whether a thing is within reach: the robot stands at it, or at what it is in or on."""
    if held_by(state) == name:
        return True
    if out_of_reach(name) in state.items(Section.FACTS):
        return False
    here = place_of_robot(state)
    if here is None or (here != name and close_by(name) in state.items(Section.FACTS)):
        return None
    if here == name:
        return True
    place = place_of(name, state)
    # Things on the thing at which the robot stands, or beside it on one support, are mostly within reach.
    if here and (place == here or place_of(here, state) in (name, place or name)):
        return None
    return False


def _state_of(name: str, state_wanted: ObjectState, state: BriefState) -> bool | None:
    facts = state.items(Section.FACTS)
    if is_in_state(name, state_wanted) in facts:
        return True
    return False if any(is_in_state(name, other) in facts for other in state_wanted.opposites) else None
