"""Finds the remedy of a failed action: in the skill library, or in the actions between failure and success."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_declaration import Precondition
from memory_node.domain.skill_library import SKILLS, check_call
from memory_node.domain.step import StepRecord
from memory_node.episodes.class_actions import class_action, class_call
from memory_node.world import failures
from memory_node.world.skills import establishing

# Which skills can repair which failure; None: any may.
_REPAIRS: dict[FailureReason, frozenset[str]] = {
    FailureReason.CLOSED: frozenset({"OpenObject"}),
    FailureReason.TOO_FAR: frozenset({"GoToObject"}),
    FailureReason.NOT_HOLDING: frozenset({"PickupObject"}),
    FailureReason.HAND_EMPTY: frozenset({"PickupObject"}),
    FailureReason.HAND_FULL: frozenset({"PutObject", "ThrowObject"}),
    FailureReason.PRECONDITION: frozenset({"PickupObject", "OpenObject", "CloseObject", "PutObject", "ToggleOn"}),
}
# The longest chain of actions that is still taken for a repair.
_LONGEST = 3
_CALL = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*")


def broken_rules(action: SkillCall, reason: FailureReason) -> tuple[Precondition, ...]:
    """Return the declared preconditions whose absence makes the action fail for this reason."""
    skill = SKILLS.get(action.skill)
    return failures.broken_rules(skill, reason) if skill is not None else ()


def remedy_of_rule(rule: Precondition) -> tuple[SkillCall, ...]:
    """Return the calls that establish a precondition, as templates; () where the library names no single skill."""
    return establishing(rule.fact)


@lru_cache(maxsize=256)
def rules_of_one_cause(skill: str, reason: str, remedy: tuple[SkillCall, ...]) -> Mapping[str, Precondition]:
    """Return by skill the precondition that is not met where this skill fails for this reason and this remedy helps.

    The library declares what each skill needs: that a thing must be near before it is picked up also holds for opening.
    {} where the library does not declare the remedy.
    """
    failed = SKILLS.get(skill)
    causes = [
        rule.fact
        for rule in (failed.preconditions if failed is not None else ())
        if remedy_of_rule(rule) == remedy and str(rule.reason) == reason
    ]
    wanted = {(fact.predicate, fact.value) for fact in causes}
    return {
        one.name: rule
        for one in SKILLS.values()
        for rule in reversed(one.preconditions)  # of several, the first declared
        if (rule.fact.predicate, rule.fact.value) in wanted and remedy_of_rule(rule)
    }


def declared_remedy(action: SkillCall, reason: FailureReason) -> tuple[SkillCall, ...]:
    """Return the templates that the skill library offers against a failure; () when it offers none."""
    remedies = (remedy_of_rule(rule) for rule in broken_rules(action, reason))
    return next((remedy for remedy in remedies if remedy), ())


def seen_remedy(failed: StepRecord, later: Sequence[StepRecord]) -> tuple[SkillCall, ...]:
    """Return what was done between a failure and the first success of the same action, as templates.

    Only actions that can repair such a failure count. () when the action never succeeded, or succeeded at once, by
    chance.
    """
    able = _REPAIRS.get(failed.reason)
    done: list[SkillCall] = []
    for step in later:
        if class_action(step) == class_action(failed):
            if step.success:
                return tuple(dict.fromkeys(done))[-_LONGEST:]
        elif step.success and able is not None and step.action.skill in able:
            done.append(as_template(step.action, failed.action))
    return ()


def as_template(call: SkillCall, action: SkillCall) -> SkillCall:
    """Return `call` with the arguments that it shares with `action` replaced by their names there, else by classes."""
    skill = SKILLS.get(action.skill)
    names = [argument.name for argument in skill.arguments] if skill else []
    roles = dict(zip(class_call(action).arguments, names))
    lifted = class_call(call).arguments
    return SkillCall(call.skill, tuple("{" + roles[text] + "}" if text in roles else text for text in lifted))


def spoken_classes(action: SkillCall, remedy: Sequence[SkillCall]) -> frozenset[str]:
    """Return the classes of the action's arguments that a remedy acts on: those that it is known to help."""
    skill = SKILLS.get(action.skill)
    names = ["{" + argument.name + "}" for argument in skill.arguments] if skill else []
    used = {text for call in remedy for text in call.arguments}
    return frozenset(text for name, text in zip(names, class_call(action).arguments) if name in used)


def described(calls: Sequence[SkillCall]) -> str:
    """Return templates in words: OpenObject(receptacle), then ..."""
    return ", then ".join(str(call).replace("{", "").replace("}", "") for call in calls)


def template_from_text(text: str) -> SkillCall:
    """Return the call that a text such as "OpenObject({receptacle})" names.

    Raises:
        InvalidValueError: it is not a well-formed call of the skill library.
    """
    match = _CALL.fullmatch(text)
    if match is None:
        raise InvalidValueError(f"{text[:80]!r}: expected Skill(argument, ...)")
    arguments = tuple(part.strip() for part in match.group(2).split(",") if part.strip())
    call = SkillCall(match.group(1), arguments)
    check_call(call)
    return call
