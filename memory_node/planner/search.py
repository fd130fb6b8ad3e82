"""Uniform-cost search over the declared skills: the cheapest calls that make some facts true."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import ArgumentKind, Fact, Predicate, Skill
from memory_node.domain.skill_library import ALL_SKILLS, SKILLS
from memory_node.domain.states import DOORS, ObjectState
from memory_node.planner.planner import PlanningFailedError
from memory_node.world.facts import holds, prepared
from memory_node.world.skills import Effects, effects_of, fits_kind, with_effects
from memory_node.world.state import Thing, WorldState

_TRAVEL_S = 6.0
_MAX_EXPANSIONS = 3_000
_HARMS = (Property.HEATS, Property.TOGGLEABLE, Property.DRAINS)  # what happens to things that lie there


def brought_about(call: SkillCall) -> list[Fact]:
    """Return what is so of named things after a call; what it ends goes without saying."""
    skill = SKILLS[call.skill]
    names = dict(zip((one.name for one in skill.arguments), call.arguments))
    begun = [fact for fact in skill.effects if fact.value and fact.arguments]
    return [replace(fact, arguments=tuple(names[one] for one in fact.arguments)) for fact in begun]


@dataclass(frozen=True)
class _Operator:
    """A skill bound to things. needs: the tests of the facts that may fail to hold."""

    call: SkillCall
    cost: float
    needs: tuple[Callable[[WorldState], bool], ...]
    effects: Effects

    def is_possible(self, state: WorldState) -> bool:
        for test in self.needs:  # noqa: SIM110 - all() with a generator takes twice as long here
            if not test(state):
                return False
        return True


# Returns whether a thing that is in the way cannot be put down at a place, as earlier tries teach.
Refuses = Callable[[Thing, Thing], bool]


def refuses_nothing(_thing: Thing, _place: Thing) -> bool:
    """Return that nothing is known to fail."""
    return False


def find_plan(
    state: WorldState,
    wanted: Sequence[Fact],
    fixture: str = "",
    skills: frozenset[str] = ALL_SKILLS,
    refuses: Refuses = refuses_nothing,
) -> list[SkillCall]:
    """Return the cheapest skill calls after which all of `wanted` holds; [] when it holds already. They, and the wanted
    facts, name things by their keys.

    skills: names of those that the robot does. fixture: the key of the thing that composites are done at, or that a
    vessel is filled from; by default any that serves. refuses: where a thing that is in the way is not put down.

    Raises:
        PlanningFailedError: no sequence of skills over the believed things leads there.
    """
    plan = _search(state, wanted, fixture, skills, refuses)
    if plan is not None:
        return plan
    other = _search(state, wanted, fixture, ALL_SKILLS, refuses) if skills != ALL_SKILLS else None
    if other is not None:
        lacking = sorted({call.skill for call in other} - skills)
        raise PlanningFailedError(f"it needs {', '.join(lacking)}, which this robot does not do")
    raise PlanningFailedError(_why_not(state, wanted))


def _why_not(state: WorldState, wanted: Sequence[Fact]) -> str:
    """Return for people why no plan leads to wanted facts."""
    for one in wanted:
        if not one.value or one.predicate not in (Predicate.HOLDING, Predicate.CONTAINED):
            continue
        kinds = [state.kinds[state.things[key].object_class] for key in one.arguments]
        if not kinds[0].pickupable:
            return f"I cannot carry the {kinds[0].best_name}: somebody else has to"
        if kinds[1:] and not kinds[1].is_receptacle:
            return f"I cannot put anything in or on the {kinds[1].best_name}"
    return f"I know no way to bring this about as things are: {', '.join(map(str, wanted))}"


def _search(
    start: WorldState, wanted: Sequence[Fact], fixture: str, skills: frozenset[str], refuses: Refuses
) -> list[SkillCall] | None:
    """Return the cheapest plan with some skills only, None when there is none."""
    operators = list(_operators(start, wanted, fixture, skills, refuses))
    tie = itertools.count()
    first = start.changing
    frontier: list[tuple[float, int, WorldState, tuple[object, ...], tuple[_Operator, ...]]] = [
        (0.0, next(tie), start, first, ())
    ]
    best = {first: 0.0}
    for _ in range(_MAX_EXPANSIONS):
        if not frontier:
            break
        cost, _, state, key, path = heapq.heappop(frontier)
        if cost > best[key]:
            continue
        if all(holds(one, [state.things[name] for name in one.arguments], state) for one in wanted):
            return [operator.call for operator in path]
        for operator in operators:
            if not operator.is_possible(state):
                continue
            reached, then = cost + operator.cost, with_effects(operator.effects, state)
            key = then.changing
            if reached < best.get(key, float("inf")):
                best[key] = reached
                heapq.heappush(frontier, (reached, next(tie), then, key, (*path, operator)))
    return None


def _operators(
    state: WorldState, wanted: Sequence[Fact], fixture: str, skills: frozenset[str], refuses: Refuses
) -> Iterator[_Operator]:
    """Yield the skills bound to things that they can ever be done with."""
    states = {one.state for one in wanted}
    named = {name for one in wanted for name in one.arguments}
    # A vessel may stand in a basin whose tap nobody knows.
    waters = bool(fixture) and state.kinds[state.things[fixture].object_class].can(Property.WATERS)
    put = {one.arguments for one in wanted if one.predicate is Predicate.CONTAINED}
    for skill in SKILLS.values():
        if skill.name not in skills or not _is_of_use(skill, states):
            continue
        travel = _TRAVEL_S if skill.name == "GoToObject" else 0.0
        given = skill.composite or (skill.name == "FillObject" and waters)
        arguments = [one.name for one in skill.arguments if given or not one.optional]
        changing = [rule.fact for rule in skill.preconditions if rule.fact.predicate is not Predicate.KIND]
        fitting = [[one.id for one in state if fits_kind(skill, name, one, state)] for name in arguments]
        for keys in itertools.product(*fitting):
            if len(set(keys)) < len(keys):
                continue
            binding = dict(zip(arguments, keys))
            at = binding.get("fixture") or binding.get("source") or fixture
            elsewhere = fixture and at != fixture
            if not elsewhere and _makes_sense(skill, binding, state, named, put, refuses):
                needs = tuple(prepared(fact, tuple(binding[one] for one in fact.arguments)) for fact in changing)
                effects = effects_of(skill, binding)
                yield _Operator(SkillCall(skill.name, keys), skill.nominal_s + travel, needs, effects)


def _is_of_use(skill: Skill, states: set[ObjectState | None]) -> bool:
    """Return whether a plan for things in these states may take a skill. What changes things, but for doors, is tried
    only where a goal names its effect, and what cannot be undone likewise."""
    if skill.arguments[0].kind is not ArgumentKind.OBJECT:
        return False
    begun = skill.brings_about
    is_harmless = begun in DOORS or (begun is None and skill.undoable)
    return is_harmless or (begun is not None and begun in states)


def _makes_sense(
    skill: Skill,
    binding: dict[str, str],
    state: WorldState,
    named: set[str],
    put: set[tuple[str, ...]],
    refuses: Refuses,
) -> bool:
    """named: the things that the wanted facts are about; put: what is to go where, as (thing, place)."""
    if skill.name != "PutObject":
        return True
    thing, place = binding["object"], binding["receptacle"]
    if (thing, place) in put:
        return True
    if thing not in named and refuses(state.things[thing], state.things[place]):
        return False
    # A thing that is in the way is put on furniture where it can be seen, and where nothing will heat or wet it: it is
    # neither handed to anybody nor thrown away.
    kinds, aside = state.kinds, state.kinds[state.things[place].object_class]
    is_kept = aside.name != kinds.recipient and aside.name not in kinds.bins
    return is_kept and not (aside.lidded or aside.pickupable or any(map(aside.can, _HARMS)))
