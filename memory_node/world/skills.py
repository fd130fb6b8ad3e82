"""The one meaning of each skill: what keeps a call from being made, the state that follows it, the calls that are
possible."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.skill_declaration import ArgumentKind, Fact, Predicate, Skill
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.world.facts import MEANINGS, holds, missing, truth
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
