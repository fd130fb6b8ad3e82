"""The grammar of plans over what memory holds, for models that are held to one."""

from __future__ import annotations

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_library import KIND_PREDICATES, Argument, Skill
from memory_node.llm.grammar import Choices, Thing, plan_grammar
from memory_node.planner.known_world import KnownWorld

_MOST_AREAS = 40


def choices_of(world: KnownWorld, kinds: ObjectCatalogue) -> Choices:
    """Return what the calls of a plan may name: the things of the world, and what is to be searched for."""
    things = {name: Thing(name, one.object_class, _cuts(kinds, one.object_class)) for name, one in world.things.items()}
    for name in world.unknown_classes():
        things.setdefault(name, Thing(name, name, _cuts(kinds, name)))
    areas = [name for name in world.areas if name.isprintable() and name.strip()][:_MOST_AREAS]

    def fits(skill: Skill, argument: Argument, thing: Thing) -> bool:
        return can_be(kinds, skill, argument.name, thing.object_class)

    return Choices(
        tuple(things.values()), world.unknown_classes(), tuple(areas), things.get(world.held), fits, world.skills
    )


def grammar_of(choices: Choices) -> str:
    """Return the grammar of plans, "" where no call can be made."""
    try:
        return plan_grammar(choices)
    except InvalidValueError:
        return ""


def can_be(kinds: ObjectCatalogue, skill: Skill, argument: str, object_class: str) -> bool:
    """Return whether a thing of a class can be an argument of a skill, by what kind of thing it is."""
    kind = kinds[object_class]
    if argument in ("fixture", "source"):
        return kinds.serves(object_class, skill.name)
    if skill.name.startswith(("Toggle", "Switch")) and kind.is_light != skill.name.startswith("Switch"):
        return False
    if argument == "receptacle" and not kind.is_receptacle:
        return False
    needed = (rule.fact for rule in skill.preconditions if rule.fact.arguments == (argument,))
    return all(kind.satisfies(fact.predicate) for fact in needed if fact.predicate in KIND_PREDICATES)


def _cuts(kinds: ObjectCatalogue, object_class: str) -> bool:
    return kinds[object_class].can(Property.CUTS)
