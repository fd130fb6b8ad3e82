"""How a skill fails where a fact that it needs does not hold, what a skill that failed tells of the world, and which
remedy the skill library declares."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure
from memory_node.domain.skill_declaration import Fact, Precondition, Predicate, Skill
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.world.facts import closed_around
from memory_node.world.skills import bound, establishing, unmet
from memory_node.world.state import Thing, WorldState

_UNSEEN = "it may be dark there: SwitchOn a light; else something hides it"
_OF_THE_ROBOT = frozenset({Predicate.NEAR, Predicate.HOLDING, Predicate.HOLDING_TOOL, Predicate.HAND_EMPTY})


def declared_remedy(action: SkillCall, reason: FailureReason) -> tuple[SkillCall, ...]:
    """Return the templates that the skill library offers against a failure; () when it offers none."""
    remedies = (establishing(rule.fact) for rule in broken_rules(SKILLS.get(action.skill), reason))
    return next((remedy for remedy in remedies if remedy), ())


def remedy_of(action: SkillCall, reason: FailureReason) -> str:
    """Return in words what helps against a failure by the skill library, "" where nothing does."""
    remedy = _UNSEEN if reason is FailureReason.NOT_VISIBLE else ""
    return next((rule.remedy for rule in broken_rules(SKILLS.get(action.skill), reason)), remedy)


def is_of_the_robot(action: SkillCall, reason: FailureReason) -> bool:
    """Return whether what was missing is a fact about the robot, which every thing needs alike."""
    rules = broken_rules(SKILLS.get(action.skill), reason)
    return bool(rules) and all(rule.fact.predicate in _OF_THE_ROBOT for rule in rules)


_HAND = frozenset({Predicate.HOLDING, Predicate.HOLDING_TOOL})


def failure_of(skill: Skill, state: WorldState, call: SkillCall) -> SkillFailure | None:
    """Return how a call fails by the first declared precondition that does not hold; None where none is known not to.

    It is about the innermost closed thing around what is shut in, what the hand holds where that is in the way, or the
    thing that the precondition is about.
    """
    broken = next(iter(unmet(skill, state, call)), None)
    if broken is None:
        return None
    about = broken.things[0].id if broken.things else ""
    if broken.reason is FailureReason.CLOSED:
        around = closed_around(broken.things[0], state)
        about = around.id if around is not None else about
    elif broken.reason in (FailureReason.HAND_FULL, FailureReason.NOT_HOLDING):
        about = state.held or about
    return SkillFailure(broken.reason, f"{broken.said}: {broken.remedy}", about)


def broken_rules(skill: Skill | None, reason: FailureReason) -> tuple[Precondition, ...]:
    """Return the declared preconditions whose absence makes a skill fail for a reason; of no skill none."""
    if skill is None:
        return ()
    if reason is FailureReason.HAND_EMPTY:
        return tuple(rule for rule in skill.preconditions if rule.fact.predicate in _HAND)
    return tuple(rule for rule in skill.preconditions if rule.reason is reason)


def after_failure(
    skill: Skill, state: WorldState, call: SkillCall, reason: FailureReason, object_id: str = ""
) -> WorldState:
    """Return the state after a call that failed. object_id: the robot's own id of what it says was in the way: what is
    closed, what the hand holds; "" where it says nothing."""
    binding = bound(skill, state, call)
    if state.at is not None and any(fact.predicate is Predicate.NEAR for fact in skill.effects):
        state = state.standing_at("")  # it ended somewhere on the way
    rules = broken_rules(skill, reason)
    if reason is FailureReason.CLOSED:
        opens = next((rule for rule in rules if rule.fact.predicate is Predicate.OPEN_OR_UNLIDDED), None)
        rule = opens or next(iter(rules), None)
        thing = binding.get(rule.fact.arguments[0]) if rule is not None else None
        return _shut(thing, opens is not None, state, object_id) if thing is not None else state
    for rule in rules:
        thing = next((binding[name] for name in rule.fact.arguments if name in binding), None)
        state = _without(rule.fact, thing, state, reason, object_id)
    return state


def _without(fact: Fact, thing: Thing | None, state: WorldState, reason: FailureReason, object_id: str) -> WorldState:
    """Return the state in which a needed fact does not hold. thing: the first that it is about, None for none."""
    if fact.predicate is Predicate.HAND_EMPTY:
        return _full_hand(state, object_id)
    if fact.predicate in _HAND:
        return _other_hand(thing, state, reason, object_id)
    if thing is None:
        return state
    if fact.predicate is Predicate.NEAR:
        away = state.out_of_reach(thing.id)
        return away.standing_at("") if away.at is not None else away
    if fact.predicate is Predicate.STATE and fact.state is not None:
        known = state if thing.id in state.things else state.with_thing(thing)
        return known.with_state(thing.id, fact.state, not fact.value)
    return state


def _other_hand(thing: Thing | None, state: WorldState, reason: FailureReason, object_id: str) -> WorldState:
    """Return the state after a failure that says that something is not in the hand."""
    told = state.named(object_id) if object_id else None
    is_other = object_id and object_id not in ((thing.id, *thing.identities) if thing is not None else ())
    if reason is FailureReason.HAND_EMPTY:
        return state.holding("")
    if told is not None and is_other:
        return state.holding(told.id)
    return state.holding("" if thing is not None and thing.id == state.held else None)


def _full_hand(state: WorldState, object_id: str) -> WorldState:
    if not object_id:
        return state if state.held else state.holding(None)
    known = state.named(object_id) or Thing(object_id, "", object_id=object_id)
    return state.with_thing(known).holding(known.id)


def _shut(thing: Thing, itself: bool, state: WorldState, object_id: str) -> WorldState:
    """Return the state in which a thing is closed, or shut in what the robot names or memory holds it to be in."""
    kind = state.kinds.get(thing.object_class)
    outer = state.named(object_id) if object_id else None
    if outer is None and (itself or (kind is not None and not kind.pickupable)):
        outer = thing
    around = state.things.get(thing.container)
    if outer is None and object_id and around is not None and not around.object_id and _opens(around, state):
        outer = replace(around, object_id=object_id)  # the robot names what memory holds the thing to be in
    if outer is None and object_id:
        outer = Thing(object_id, "", object_id=object_id)
    outer = outer or around
    if outer is None:
        return state
    state = state.with_thing(outer)
    if outer.id != thing.id:
        state = state.with_thing(replace(thing, container=outer.id, inside=True))
    return state.with_state(outer.id, ObjectState.CLOSED)


def _opens(thing: Thing, state: WorldState) -> bool:
    kind = state.kinds.get(thing.object_class)
    return kind is not None and kind.can(Property.OPENABLE)
