"""Checks a language model's plan against the skill library and against what is known of the home."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import ArgumentKind, ObjectReference, Predicate, check_call
from memory_node.planner.skill_parser import NotAPlanError


def check_plan(
    plan: Sequence[SkillCall], kinds: ObjectCatalogue, known_ids: Collection[str], held_class: str = ""
) -> None:
    """Check names and the hand: what is taken, carried and put down, step by step.

    known_ids: ids of objects and areas that memory or the robot have given.

    Raises:
        NotAPlanError: a call names something that does not exist, or cannot work after the calls before it.
    """
    held = held_class
    for number, call in enumerate(plan, start=1):
        skill = check_call(call)
        where = f"call {number}, {call}"
        for index, text in enumerate(call.arguments):
            declared = skill.arguments[min(index, len(skill.arguments) - 1)]
            if declared.kind is not ArgumentKind.AREA:
                _check_name(text, kinds, known_ids, where)
        subject = class_of(call.arguments[0], kinds, known_ids)
        for rule in skill.preconditions:
            broken = _is_broken(rule.fact.predicate, subject, held, kinds)
            if broken:
                raise NotAPlanError(f"{where}: {broken}; {rule.remedy}")
        for effect in skill.effects:
            if effect.predicate is Predicate.HOLDING:
                held = (subject or "something") if effect.value else ""


def _check_name(text: str, kinds: ObjectCatalogue, known_ids: Collection[str], where: str) -> None:
    if text in known_ids:
        return
    try:
        reference = ObjectReference.parse(text)
    except InvalidValueError as error:
        raise NotAPlanError(f"{where}: {error}") from None
    if reference.object_class not in kinds:
        raise NotAPlanError(f"{where}: {text!r} is neither a known id nor a class of thing")


def class_of(text: str, kinds: ObjectCatalogue, known_ids: Collection[str]) -> str:
    """Return the class that an argument names, "" for an id."""
    if text in known_ids and text not in kinds:
        return ""
    return text.partition("@")[0]


def _is_broken(predicate: Predicate, subject: str, held: str, kinds: ObjectCatalogue) -> str:
    """Return why a fact about the hand does not hold, "" when it does or cannot be told."""
    if predicate is Predicate.HAND_EMPTY and held:
        return f"the hand holds {held}"
    if predicate is Predicate.HOLDING and (not held or (subject and held not in (subject, "something"))):
        return f"the hand holds {held or 'nothing'}, not {subject or 'that'}"
    if predicate is Predicate.HOLDING_CUTTER and held != "something" and not (held and kinds[held].can(Property.CUTS)):
        return f"the hand holds {held or 'nothing'}, which does not cut"
    return ""
