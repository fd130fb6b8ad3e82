"""Finds the arguments with which a skill can be called now: its preconditions hold, and it would change something."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from memory_node.domain.skill_library import Predicate, Skill
from memory_node.planner.belief import Belief, holds


def possible_arguments(skill: Skill, belief: Belief) -> Iterator[tuple[str, ...]]:
    """Yield the names of things that a skill can be called with now."""
    arguments = [argument.name for argument in skill.arguments if not argument.optional]
    held = belief.state.held
    holds_first = any(rule.fact.predicate is Predicate.HOLDING for rule in skill.preconditions)
    firsts: Iterable[str] = ((held,) if held else ()) if holds_first else belief.things
    others: Sequence[Iterable[str]] = [belief.things] * (len(arguments) - 1)
    places = _places_of(skill, belief)
    for names in itertools.product(firsts, *others):
        binding = dict(zip(arguments, names))
        if len(set(names)) == len(names) and _is_open_to(skill, binding, belief):
            yield from ((*names, place) for place in places if place not in names) if places else (names,)


def _places_of(skill: Skill, belief: Belief) -> list[str]:
    """Return the known things at which a composite can be done; none for another skill."""
    if not skill.composite:
        return []
    return [name for name, thing in belief.things.items() if belief.kinds.serves(thing.object_class, skill.name)]


def _is_open_to(skill: Skill, binding: dict[str, str], belief: Belief) -> bool:
    """Return whether all that a skill needs holds, and something that it does is not so yet."""
    state = belief.state
    if skill.name.startswith(("Toggle", "Switch")):
        is_light = belief.kinds[belief.things[binding["object"]].object_class].is_light
        if is_light != skill.name.startswith("Switch"):
            return False
    needs = (rule.fact for rule in skill.preconditions)
    if not all(holds(fact, binding, state, belief) for fact in needs):
        return False
    effects = [fact for fact in skill.effects if set(fact.arguments) <= set(binding)]
    return not effects or not all(holds(fact, binding, state, belief) for fact in effects)
