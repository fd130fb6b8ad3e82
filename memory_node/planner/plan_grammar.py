"""The grammar of plans over what memory holds, for models that are held to one."""

from __future__ import annotations

from functools import cache

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_declaration import ArgumentKind, Skill
from memory_node.llm.grammar import Choices, Offer, plan_grammar
from memory_node.planner.known_world import KnownWorld
from memory_node.world.skills import arguments_with
from memory_node.world.state import Thing

_MOST_AREAS = 40


def choices_of(world: KnownWorld) -> Choices:
    """Return what the calls of a plan may name: the things of the world, and what is to be searched for."""
    state, sought = world.state, world.unknown_classes()
    for name in sought:
        state = state if name in state.things else state.with_thing(Thing(name, name))
    areas = tuple(name for name in world.areas if name.isprintable() and name.strip())[:_MOST_AREAS]
    kinds = {ArgumentKind.OBJECT_CLASS: sought, ArgumentKind.AREA: areas}

    @cache
    def offers(held: str) -> tuple[Offer, ...]:
        with_hand = state.holding(held)

        def values(skill: Skill) -> tuple[tuple[str, ...], ...]:
            if skill.arguments[0].kind is ArgumentKind.OBJECT:
                return arguments_with(skill, with_hand)
            return tuple(kinds[argument.kind] for argument in skill.arguments) if sought else ()

        return tuple(Offer(skill, found) for skill in world.skills if (found := values(skill)))

    return Choices(offers, world.held)


def grammar_of(choices: Choices) -> str:
    """Return the grammar of plans, "" where no call can be made."""
    try:
        return plan_grammar(choices)
    except InvalidValueError:
        return ""
