"""Uniform-cost search over the declared skills: the cheapest calls that make some facts true."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import ALL_SKILLS, KIND_PREDICATES, SKILLS, Fact, Predicate, Skill
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Belief, WorldState, holds
from memory_node.planner.planner import PlanningFailedError

_TRAVEL_S = 6.0
_MAX_EXPANSIONS = 3_000
# Skills that are tried only if a goal names their effect; otherwise the search would try them everywhere.
_ON_REQUEST = {
    "BreakObject": ObjectState.BROKEN,
    "FillObject": ObjectState.FILLED,
    "EmptyObject": ObjectState.USED_UP,
    "SliceObject": ObjectState.SLICED,
    "CleanObject": ObjectState.CLEANED,
    "HeatObject": ObjectState.HEATED,
    "CoolObject": ObjectState.COLD,
    "ToggleOn": ObjectState.ON,
    "SwitchOn": ObjectState.ON,
    "ToggleOff": ObjectState.OFF,
    "SwitchOff": ObjectState.OFF,
}
_NEVER = frozenset({"Explore", "ThrowObject"})


@dataclass(frozen=True)
class Wanted:
    """A fact about named things that a plan must make true."""

    predicate: Predicate
    names: tuple[str, ...]
    state: ObjectState | None = None

    @property
    def fact(self) -> Fact:
        """The same as a declared fact whose arguments are the names."""
        return Fact(self.predicate, self.names, state=self.state)


@dataclass(frozen=True)
class _Operator:
    skill: Skill
    binding: tuple[tuple[str, str], ...]
    cost: float

    def call(self, belief: Belief) -> SkillCall:
        return SkillCall(self.skill.name, tuple(belief.things[name].call_name for _, name in self.binding))


def find_plan(belief: Belief, wanted: Sequence[Wanted], fixture: str = "") -> list[SkillCall]:
    """Return the cheapest skill calls after which all of `wanted` holds; [] when it holds already.

    fixture: the name of the thing that composites are done at; by default any that serves.

    Raises:
        PlanningFailedError: no sequence of skills over the believed things leads there.
    """
    plan = _search(belief, wanted, fixture, belief.skills)
    if plan is not None:
        return plan
    names = ", ".join(str(one.fact) for one in wanted)
    other = _search(belief, wanted, fixture, ALL_SKILLS) if belief.skills != ALL_SKILLS else None
    if other is not None:
        lacking = sorted({call.skill for call in other} - belief.skills)
        raise PlanningFailedError(f"{names} needs {', '.join(lacking)}: not available on this robot")
    raise PlanningFailedError(f"no skills lead to {names} with {', '.join(sorted(belief.things)) or 'nothing known'}")


def _search(belief: Belief, wanted: Sequence[Wanted], fixture: str, skills: frozenset[str]) -> list[SkillCall] | None:
    """Return the cheapest plan with some skills only, None when there is none."""
    facts = [(one.fact, {name: name for name in one.names}) for one in wanted]
    operators = list(_operators(belief, wanted, fixture, skills))
    tie = itertools.count()
    frontier: list[tuple[float, int, WorldState, tuple[_Operator, ...]]] = [(0.0, next(tie), belief.state, ())]
    best: dict[WorldState, float] = {belief.state: 0.0}
    for _ in range(_MAX_EXPANSIONS):
        if not frontier:
            break
        cost, _, state, path = heapq.heappop(frontier)
        if all(holds(fact, binding, state, belief) for fact, binding in facts):
            return [operator.call(belief) for operator in path]
        if cost > best[state]:
            continue
        for operator in operators:
            binding = dict(operator.binding)
            if not all(holds(rule.fact, binding, state, belief) for rule in operator.skill.preconditions):
                continue
            after = apply_effects(operator.skill, binding, state)
            reached = cost + operator.cost
            if reached < best.get(after, float("inf")):
                best[after] = reached
                heapq.heappush(frontier, (reached, next(tie), after, (*path, operator)))
    return None


def apply_effects(skill: Skill, binding: dict[str, str], state: WorldState) -> WorldState:
    """Return the state after a skill, by its declared effects."""
    for effect in skill.effects:
        names = [binding.get(argument, "") for argument in effect.arguments]
        if effect.predicate is Predicate.HOLDING:
            state = replace(state, held=names[0] if effect.value else "")
        elif effect.predicate is Predicate.NEAR:
            state = replace(state, at=names[0] or state.at)
        elif effect.predicate is Predicate.CONTAINED:
            state = state.put(names[0], names[1] if effect.value else "")
        elif effect.predicate is Predicate.STATE:
            assert effect.state is not None
            state = state.with_state(names[0], effect.state, effect.value)
    return state


def _operators(belief: Belief, wanted: Sequence[Wanted], fixture: str, skills: frozenset[str]) -> Iterator[_Operator]:
    """Yield the skills bound to things that they can ever be done with."""
    states = {one.state for one in wanted}
    named = {name for one in wanted for name in one.names}
    for skill in SKILLS.values():
        if skill.name not in skills or not _is_of_use(skill, states):
            continue
        travel = _TRAVEL_S if skill.name == "GoToObject" else 0.0
        for binding in _bindings(skill, belief):
            elsewhere = fixture and binding.get("fixture", fixture) != fixture
            if not elsewhere and _makes_sense(skill, binding, belief, named):
                yield _Operator(skill, tuple(binding.items()), skill.nominal_s + travel)


def _is_of_use(skill: Skill, states: set[ObjectState | None]) -> bool:
    """Return whether a plan for things in these states may take a skill."""
    if skill.name in _NEVER:
        return False
    return skill.name not in _ON_REQUEST or _ON_REQUEST[skill.name] in states


def _bindings(skill: Skill, belief: Belief) -> Iterator[dict[str, str]]:
    """Yield the names of things for a skill's arguments, in every way."""
    arguments = [argument.name for argument in skill.arguments if not argument.optional or skill.composite]
    for names in itertools.permutations(belief.things, len(arguments)):
        yield dict(zip(arguments, names))


def _makes_sense(skill: Skill, binding: dict[str, str], belief: Belief, named: set[str]) -> bool:
    static = [rule.fact for rule in skill.preconditions if rule.fact.predicate in KIND_PREDICATES]
    if not all(holds(fact, binding, belief.state, belief) for fact in static):
        return False
    if skill.name == "PutObject" and binding["receptacle"] not in named:
        # A thing that is in the way is put where it can be seen, and where nothing will heat it.
        aside = belief.kinds[belief.things[binding["receptacle"]].object_class]
        return not aside.lidded and not aside.can(Property.HEATS)
    if "fixture" in binding:
        return belief.kinds.serves(belief.things[binding["fixture"]].object_class, skill.name)
    if skill.name.startswith(("Toggle", "Switch")):
        is_light = belief.kinds[belief.things[binding["object"]].object_class].is_light
        return is_light == skill.name.startswith("Switch")
    return True
