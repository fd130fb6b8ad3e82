"""The one meaning of each skill: what keeps a call from being made, how it fails then and what helps, the state that
follows a call that was made or failed, the calls that are possible."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult, StateChange
from memory_node.domain.skill_declaration import ArgumentKind, Fact, Precondition, Predicate, Skill
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.world.facts import MEANINGS, closed_around, holds, missing, truth
from memory_node.world.state import Thing, WorldState

# Argument name -> the thing that a call gives for it.
Binding = Mapping[str, Thing]


@dataclass(frozen=True)
class Unmet:
    """A declared fact that keeps a call from being made.

    reason: with which the skill would fail. said: what is not so, in words; remedy: what to do about it, in words, and
    steps: as calls over argument names in braces ("{object}"), () where no single skill helps. things: it is about.
    """

    fact: Fact
    reason: FailureReason
    said: str
    remedy: str
    steps: tuple[SkillCall, ...] = ()
    things: tuple[Thing, ...] = ()


def bound(skill: Skill, state: WorldState, call: SkillCall) -> Binding:
    """Return what a call gives for each argument. What the state does not know is a thing of the class that it names.

    Arguments that name no thing, and those that are left out, are not in it.
    """
    pairs = zip(skill.arguments, call.arguments)
    return {one.name: thing_of(text, state) for one, text in pairs if one.kind is not ArgumentKind.AREA and text}


def thing_of(text: str, state: WorldState) -> Thing:
    """Return the thing that an argument stands for: one of the state, else some thing of a class."""
    return state.named(text) or Thing(text, text.partition("@")[0])


def unmet(skill: Skill, state: WorldState, call: SkillCall, known_only: bool = True) -> tuple[Unmet, ...]:
    """Return the declared facts that keep a call from being made, in their declared order.

    known_only: what nobody knows keeps nobody from anything; else it counts as it usually is, as a planner needs it.
    Facts about arguments that were left out do not apply.
    """
    binding = bound(skill, state, call)
    broken = []
    for rule in skill.preconditions:
        things = _things(rule.fact, binding)
        if things is None:
            continue
        is_so = truth(rule.fact, things, state) is not False if known_only else holds(rule.fact, things, state)
        if not is_so:
            no_hand = rule.fact.predicate in (Predicate.HOLDING, Predicate.HOLDING_TOOL) and state.held == ""
            reason = FailureReason.HAND_EMPTY if no_hand else rule.reason
            said, steps = missing(rule.fact, things, state), establishing(rule.fact)
            broken.append(Unmet(rule.fact, reason, said, rule.remedy, steps, tuple(things)))
    return tuple(broken)


def establishing(fact: Fact) -> tuple[SkillCall, ...]:
    """Return the calls that make a fact so, over its argument names in braces; () where no single skill does."""
    skill = MEANINGS[fact.predicate].established_by
    return (SkillCall(skill, ("{" + fact.arguments[0] + "}",)),) if skill and fact.value else ()


def after(skill: Skill, state: WorldState, call: SkillCall) -> WorldState:
    """Return the state after a call that succeeded, by the declared effects.

    What was cut is of the class of its pieces from then on: one entry for all of them, where the whole was.
    """
    binding = bound(skill, state, call)
    for thing in binding.values():
        if thing.id not in state.things and thing.object_class:
            state = state.with_thing(thing)
    return with_effects(effects_of(skill, {name: thing.id for name, thing in binding.items()}), state)


# Declared effects with the keys of the things that they are about, None for one that was left out.
Effects = Sequence[tuple[Fact, tuple[str, ...] | None]]


def effects_of(skill: Skill, binding: Mapping[str, str]) -> Effects:
    """Return what a skill brings about, over the keys of things. binding: by argument name."""
    about = ((fact, [binding.get(name, "") for name in fact.arguments]) for fact in skill.effects)
    return [(fact, tuple(keys) if all(keys) else None) for fact, keys in about]


def with_effects(effects: Effects, state: WorldState) -> WorldState:
    """Return the state that effects lead to."""
    before = state
    for fact, keys in effects:
        if keys is None:
            # A composite chooses its appliance itself where the call names none.
            state = state.standing_at(None) if fact.predicate is Predicate.NEAR else state
        elif all(key in state.things for key in keys):
            state = _with_effect(fact, [state.things[key] for key in keys], state, before)
    return state


def _with_effect(fact: Fact, things: Sequence[Thing], state: WorldState, before: WorldState) -> WorldState:
    key = things[0].id if things else ""
    if fact.predicate is Predicate.HOLDING:
        return state.holding(key) if fact.value else state.holding("")
    if fact.predicate is Predicate.NEAR:
        return state.standing_at(key)
    if fact.predicate is Predicate.CONTAINED:
        if fact.value:
            outer, kind = things[1], state.kinds.get(things[1].object_class)
            if outer.door is ObjectState.CLOSED and kind is not None and kind.lidded:
                state = state.with_state(outer.id, ObjectState.OPENED)  # what took a thing in is open
            return state.put(key, outer.id, kind.holds_inside if kind is not None else None)
        # What was taken is in the hand; its support is still within reach.
        left = before.container_of(key)
        return state.standing_at(left) if left and state.at == key else state
    if fact.predicate is Predicate.STATE and fact.state is not None:
        state = state.with_state(key, fact.state, fact.value)
        return _cut(key, state) if fact.state is ObjectState.SLICED else state
    return state


def _cut(key: str, state: WorldState) -> WorldState:
    thing = state.things[key]
    pieces = state.kinds[thing.object_class].slices
    left = thing.container if state.at == key and thing.container else state.at
    return state.with_thing(thing.cut_into(pieces)).standing_at(left) if pieces else state


class Known(Protocol):
    """A thing as far as a change names it."""

    @property
    def object_id(self) -> str:
        """The id."""

    @property
    def object_class(self) -> str:
        """The class."""


def declared_changes(
    skill: Skill,
    things: Mapping[str, Known],
    stamp_ns: int,
    inside: bool = False,
    position: tuple[float, float, float] | None = None,
) -> tuple[StateChange, ...]:
    """Return one change for each argument that the declared effects of a skill that succeeded are about. Every effect
    is told, not the difference of before and after: memory may have believed otherwise.

    things: by argument name. inside: whether a receptacle takes things in, not on. position: in map, of what was put
    down.
    """
    changes: dict[str, StateChange] = {}
    for effect in skill.effects:
        subject = effect.arguments[0] if effect.arguments else ""
        if subject not in things:
            continue
        one = things[subject]
        begun, ended = skill.states_of(subject, begun=True), skill.states_of(subject, begun=False)
        change = changes.get(subject, StateChange(one.object_id, one.object_class, stamp_ns, begun, ended))
        if effect.predicate is Predicate.HOLDING:
            change = replace(change, held=effect.value, position=None if effect.value else position)
        elif effect.predicate is Predicate.CONTAINED and effect.value and effect.arguments[1] in things:
            change = replace(change, support_id=things[effect.arguments[1]].object_id, inside=inside)
        elif effect.predicate is not Predicate.STATE:
            continue
        changes[subject] = change
    return tuple(changes.values())


def with_declared_states(result: SkillResult) -> tuple[StateChange, ...]:
    """Return the changes of a skill that succeeded, the last one of its thing with the states that the skill is
    declared to bring about: a robot reports what has changed, and what was cold before it was cooled is cold as well.
    """
    changes = list(result.changes)
    mine = [n for n, one in enumerate(changes) if one.object_id == result.object_id and not one.destroyed]
    skill = SKILLS.get(result.call.skill)
    if not (mine and result.success and skill is not None):
        return result.changes
    told = {state for n in mine for state in (*changes[n].added, *changes[n].removed)}
    subject, last = skill.arguments[0].name, changes[mine[-1]]
    begun = (one for one in skill.states_of(subject, begun=True) if one not in told and told.isdisjoint(one.opposites))
    ended = (one for one in skill.states_of(subject, begun=False) if one not in told)
    changes[mine[-1]] = replace(last, added=(*last.added, *begun), removed=(*last.removed, *ended))
    return tuple(changes)


def possible(state: WorldState, skills: Iterable[Skill]) -> Iterator[SkillCall]:
    """Yield the calls over keys that can be made now and would change something, as far as is known.

    Skills that look for what nobody knows are left out: they can always be called.
    """
    for skill in skills:
        if skill.arguments[0].kind is ArgumentKind.OBJECT:
            yield from _possible(skill, state)


def _possible(skill: Skill, state: WorldState) -> Iterator[SkillCall]:
    firsts: Iterable[str] = state.things
    if skill.needs(Predicate.HOLDING):
        firsts = (state.held,) if state.held else ()
    others: Sequence[Iterable[str]] = [state.things] * (len(skill.named_arguments) - 1)
    places = [key for key, thing in state.things.items() if serves(skill, thing, state)] if skill.composite else []
    for keys in itertools.product(firsts, *others):
        call = SkillCall(skill.name, keys)
        if len(set(keys)) == len(keys) and is_meant_for(skill, state, call) and changes_something(skill, state, call):
            if unmet(skill, state, call, known_only=False):
                continue
            yield from (SkillCall(skill.name, (*keys, place)) for place in places if place not in keys)
            if not places:
                yield call


def serves(skill: Skill, thing: Thing, state: WorldState) -> bool:
    """Return whether a composite can be done at a thing."""
    return state.kinds.serves(thing.object_class, skill.name)


def is_meant_for(skill: Skill, state: WorldState, call: SkillCall) -> bool:
    """Return whether a skill is one that people use for such things: a lamp is switched, a tap is toggled."""
    binding = bound(skill, state, call)
    return all(holds(fact, _things(fact, binding) or (), state) for fact in skill.meant_for)


def fits_kind(skill: Skill, argument: str, thing: Thing, state: WorldState) -> bool:
    """Return whether a thing can be an argument of a skill, by what kind of thing it is."""
    if argument in ("fixture", "source"):
        return serves(skill, thing, state)
    facts = [rule.fact for rule in skill.preconditions] + list(skill.meant_for)
    of_it = (fact for fact in facts if fact.predicate is Predicate.KIND and fact.arguments == (argument,))
    return all(holds(fact, (thing,), state) for fact in of_it)


def changes_something(skill: Skill, state: WorldState, call: SkillCall) -> bool:
    """Return whether a call would change something: not all that it brings about is so already."""
    binding = bound(skill, state, call)
    effects = [(fact, things) for fact in skill.effects if (things := _things(fact, binding)) is not None]
    return not effects or not all(holds(fact, things, state) for fact, things in effects)


def _things(fact: Fact, binding: Binding) -> list[Thing] | None:
    """Return the things bound to a fact's arguments, None where one was left out."""
    if not all(name in binding for name in fact.arguments):
        return None
    return [binding[name] for name in fact.arguments]


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
