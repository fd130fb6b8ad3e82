"""Checks the next or last action against the declared skills: each warning states its rule and the remedy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.step import StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.episodes.repetition import repeated
from memory_node.world.failures import after_failure, broken_rules, remedy_of
from memory_node.world.skills import after, establishing, unmet
from memory_node.world.state import Thing, WorldState

_DRIVES = ("GoToObject", "Explore")


@dataclass(frozen=True)
class ConsistencyWarning:
    """A step that contradicts what is known: the rule that it breaks, and what to do instead."""

    rule: str
    detail: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.detail} (rule: {self.rule}; remedy: {self.remedy})"


def first_state(held: str, kinds: ObjectCatalogue) -> WorldState:
    """Return what is believed before the first step. A step names classes, so the things of this world are classes.

    held: the class of what the hand holds.
    """
    # Which of several things of a class the robot stands at is not known, so it says nothing of another class.
    return _holding(held, WorldState(kinds, at=None))


def after_step(state: WorldState, step: StepRecord) -> WorldState:
    """Return what is believed after a step: its declared effects, or what its failure tells, and what the hand holds
    after it."""
    call, skill = class_call(step.action), SKILLS.get(step.action.skill)
    if skill is not None and step.success:
        if skill.name in _DRIVES:
            state = replace(state, apart=state.apart - set(call.arguments[:1]))
        state = after(skill, state, call).standing_at(None)
    elif skill is not None:
        state = after_failure(skill, state, call, step.reason)
    return _holding(step.held_object, state)


def _holding(held: str, state: WorldState) -> WorldState:
    """Return a state over classes with a thing of one in the hand."""
    known = state if not held or held in state.things else state.with_thing(Thing(held, held))
    return known if known.held == held else known.holding(held)


def check_action(action: SkillCall, state: WorldState, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Return the warnings about doing `action` next, given what is believed and the steps so far."""
    warnings: list[ConsistencyWarning] = []
    skill = SKILLS.get(action.skill)
    if skill is None:
        return [ConsistencyWarning("known skill", f"{action.skill} is not in the skill library", "use a skill of it")]
    for one in unmet(skill, state, class_call(action)):
        warnings.append(ConsistencyWarning(str(one.fact), one.said, one.remedy))
    warnings += _tap_without_anything_below(action, state)
    warnings += _repeated_failure(action, history) or _loop(action, history)
    return warnings


def check_step(step: StepRecord, state: WorldState, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Return the warnings about a finished step, including the declared rule that its failure shows to be broken."""
    warnings = check_action(step.action, state, history)
    skill = SKILLS.get(step.action.skill)
    rules = broken_rules(skill, step.reason)
    if rules and not {rule.remedy for rule in rules} & {warning.remedy for warning in warnings}:
        rule = next((rule for rule in rules if establishing(rule.fact)), rules[0])
        detail = f"{step.action} failed, which says {step.reason}"
        warnings.append(ConsistencyWarning(str(rule.fact), detail, rule.remedy))
    return warnings


def _tap_without_anything_below(action: SkillCall, state: WorldState) -> list[ConsistencyWarning]:
    """Warn of a tap that is turned on when no basin below it has known contents: its water cleans nothing."""
    kinds, tap = state.kinds, state.kinds[next(iter(class_call(action).arguments), "")].name
    parts = [name for name in kinds.able(Property.DRAINS) if kinds[name].switched_by == tap]
    if action.skill != "ToggleOn" or not parts or any(map(state.contents, kinds.with_wholes(parts))):
        return []
    detail = f"nothing is known to be in {parts[0]}, so the water cleans nothing"
    return [ConsistencyWarning("something under the tap", detail, f"PutObject the thing in {parts[0]} first")]


def _repeated_failure(action: SkillCall, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Warn of an action that failed, where no step has succeeded since."""
    failures = itertools.takewhile(lambda step: not step.success, reversed(history))
    reason = next((step.reason for step in failures if step.action == action), None)
    if reason is None:
        return []
    remedy = remedy_of(action, reason) or "change something first"
    return [ConsistencyWarning("no failed action twice", f"{action} has just failed ({reason})", remedy)]


def _loop(action: SkillCall, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Warn where the last actions and the next one are one action three times, or a short cycle twice over."""
    cycle = ", ".join(map(str, repeated([*(step.action for step in history), action])))
    return [ConsistencyWarning("progress", f"the last actions repeat: {cycle}", "try another way")] if cycle else []
