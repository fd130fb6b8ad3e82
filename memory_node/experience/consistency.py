"""Checks the next or last action against the declared skills: each warning states its rule and the remedy."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_declaration import Fact, Precondition, Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.domain.step import StepRecord
from memory_node.experience.class_actions import class_call
from memory_node.experience.remedy import broken_rules, declared_remedy, remedy_of_rule

_DRIVES = ("GoToObject", "Explore")
_ABOUT_THE_HAND = (Predicate.HAND_EMPTY, Predicate.HOLDING, Predicate.HOLDING_CUTTER)


@dataclass(frozen=True)
class ConsistencyWarning:
    """A step that contradicts what is known: the rule that it breaks, and what to do instead.

    steps: the remedy as calls (templates, see domain.advice), where the skill library names them.
    """

    rule: str
    detail: str
    remedy: str
    steps: tuple[SkillCall, ...] = ()

    def __str__(self) -> str:
        return f"{self.detail} (rule: {self.rule}; remedy: {self.remedy})"


@dataclass
class BelievedFacts:
    """Facts that follow from the steps so far, by class name: what the hand holds, where things are, what is open.

    kinds: what can be done with classes. near: where the robot drove last; just_moved: whether that was the last
    successful step. far: what a step failed to reach, and the robot did not drive to since.
    """

    kinds: ObjectCatalogue = field(default_factory=load_catalogue)
    held: str = ""
    near: str = ""
    just_moved: bool = False
    far: set[str] = field(default_factory=set)
    contents: dict[str, set[str]] = field(default_factory=dict)
    states: dict[str, set[ObjectState]] = field(default_factory=dict)

    def after(self, step: StepRecord) -> None:
        """Update the facts by a step: what the hand holds, the declared effects of a success, the reason of a
        failure."""
        self.held = step.held_object
        names = _names(step.action)
        if not step.success or step.action.skill not in SKILLS:
            self._learn(broken_rules(step.action, step.reason), names)
            return
        self.just_moved = step.action.skill == "GoToObject"
        if step.action.skill in _DRIVES:
            self.far.discard(next(iter(names.values())))
        for fact in SKILLS[step.action.skill].effects:
            subject = names.get(fact.arguments[0], fact.arguments[0]) if fact.arguments else ""
            if fact.predicate is Predicate.STATE and fact.state is not None:
                self._hold(subject, fact.state, fact.value)
            elif fact.predicate is Predicate.CONTAINED:
                self._move(subject, names.get(fact.arguments[1], "") if len(fact.arguments) > 1 else "")
            elif fact.predicate is Predicate.NEAR:
                self.near = subject

    @property
    def holds_cutter(self) -> bool:
        """Whether the hand holds something that cuts."""
        return bool(self.held) and self.kinds[self.held].can(Property.CUTS)

    def fulfil(self, call: SkillCall) -> bool:
        """Return whether the effect of a call holds already, so that it can be left out."""
        subject = next(iter(class_call(call).arguments), "")
        if call.skill == "GoToObject":
            return subject not in self.far and (self.just_moved or self.near == subject)
        if call.skill == "PickupObject":
            return self.held == subject
        return call.skill == "OpenObject" and ObjectState.OPENED in self.states.get(subject, ())

    def _learn(self, broken: Sequence[Precondition], names: Mapping[str, str]) -> None:
        """Learn that a thing is out of reach, open or closed from a step that failed for this reason."""
        for fact in (rule.fact for rule in broken):
            subject = names.get(fact.arguments[0], "") if fact.arguments else ""
            if fact.predicate is Predicate.NEAR and fact.value:
                self.far.add(subject)
            elif fact.predicate is Predicate.OPEN_OR_UNLIDDED:
                self._hold(subject, ObjectState.OPENED, False)
                self._hold(subject, ObjectState.CLOSED)
            elif fact.predicate is Predicate.STATE and fact.state is not None:
                self._hold(subject, fact.state, not fact.value)

    def _hold(self, subject: str, state: ObjectState, holds: bool = True) -> None:
        states = self.states.setdefault(subject, set())
        states.add(state) if holds else states.discard(state)

    def _move(self, thing: str, receptacle: str) -> None:
        for contents in self.contents.values():
            contents.discard(thing)
        if receptacle:
            self.contents.setdefault(receptacle, set()).add(thing)


def check_action(action: SkillCall, facts: BelievedFacts, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Return the warnings about doing `action` next, given the believed facts and the steps so far."""
    warnings: list[ConsistencyWarning] = []
    skill = SKILLS.get(action.skill)
    if skill is None:
        return [ConsistencyWarning("known skill", f"{action.skill} is not in the skill library", "use a skill of it")]
    names = _names(action)
    for precondition in skill.preconditions:
        warnings += _broken(precondition, names, facts)
    warnings += _tap_without_anything_below(action, names, facts)
    warnings += _repeated_failure(action, history) or _loop(action, history)
    return warnings


def check_step(step: StepRecord, facts: BelievedFacts, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Return the warnings about a finished step, including the declared rule that its failure shows to be broken."""
    warnings = check_action(step.action, facts, history)
    rules = broken_rules(step.action, step.reason)
    if rules and not {rule.remedy for rule in rules} & {warning.remedy for warning in warnings}:
        rule = next((rule for rule in rules if remedy_of_rule(rule)), rules[0])
        detail = f"{step.action} failed, which says {step.reason}"
        warnings.append(ConsistencyWarning(str(rule.fact), detail, rule.remedy, remedy_of_rule(rule)))
    return warnings


def _names(action: SkillCall) -> dict[str, str]:
    """Return argument name -> class (or id) of a call's object arguments."""
    skill = SKILLS.get(action.skill)
    if skill is None:
        return {}
    classes = (ObjectReference.parse(text).object_class if "@" in text else text for text in action.arguments)
    return {argument.name: value for argument, value in zip(skill.arguments, classes, strict=False)}


def _broken(rule: Precondition, names: dict[str, str], facts: BelievedFacts) -> list[ConsistencyWarning]:
    """Return a warning if the facts contradict a precondition; an unknown fact does not."""
    subject = names.get(rule.fact.arguments[0], "") if rule.fact.arguments else ""
    if rule.fact.predicate in _ABOUT_THE_HAND:
        detail = _against_the_hand(rule.fact.predicate, subject, facts)
    else:
        detail = _against_the_thing(rule.fact, subject, facts)
    return [ConsistencyWarning(str(rule.fact), detail, rule.remedy, remedy_of_rule(rule))] if detail else []


def _against_the_hand(predicate: Predicate, subject: str, facts: BelievedFacts) -> str:
    """Return in what way the hand contradicts a precondition about it, "" where it does not."""
    held = facts.held or "nothing"
    if predicate is Predicate.HAND_EMPTY:
        return f"the hand is full: it holds {held}" if facts.held else ""
    if predicate is Predicate.HOLDING:
        return f"the hand does not hold {subject}: it holds {held}" if facts.held != subject else ""
    if facts.holds_cutter:
        return ""
    usual = facts.kinds.usual_treatment(GoalKind.SLICE)
    tools = " or ".join(usual.tools) if usual is not None else "a tool that cuts"
    return f"cutting needs {tools} in the hand: it holds {held}"


def _against_the_thing(fact: Fact, subject: str, facts: BelievedFacts) -> str:
    """Return in what way the states of things contradict a precondition, "" where they do not."""

    def is_believed(name: str, state: ObjectState) -> bool:
        return state in facts.states.get(name, ())

    if fact.predicate is Predicate.NEAR and fact.value and subject in facts.far:
        return f"{subject} is out of reach from here"
    if fact.predicate is Predicate.OPEN_OR_UNLIDDED and is_believed(subject, ObjectState.CLOSED):
        return f"{subject} is closed"
    if fact.predicate is Predicate.STATE and fact.state is not None and not fact.value:
        return f"{subject} is {fact.state} already" if is_believed(subject, fact.state) else ""
    if fact.predicate is Predicate.ACCESSIBLE:
        around = [receptacle for receptacle, things in facts.contents.items() if subject in things]
        if any(is_believed(receptacle, ObjectState.CLOSED) for receptacle in around):
            return f"{subject} is inside {around[0]}, which is closed"
    return ""


def _tap_without_anything_below(
    action: SkillCall, names: dict[str, str], facts: BelievedFacts
) -> list[ConsistencyWarning]:
    """Warn of a tap that is turned on when no basin below it has known contents: its water cleans nothing."""
    tap, kinds = names.get("object", ""), facts.kinds
    parts = [name for name in kinds.able(Property.DRAINS) if kinds[name].switched_by == kinds[tap].name]
    if action.skill != "ToggleOn" or not parts or any(facts.contents.get(one) for one in kinds.with_wholes(parts)):
        return []
    detail = f"nothing is known to be in {parts[0]}, so the water cleans nothing"
    return [ConsistencyWarning("something under the tap", detail, f"PutObject the thing in {parts[0]} first")]


def _repeated_failure(action: SkillCall, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Warn of an action that failed, where no step has succeeded since."""
    failures = itertools.takewhile(lambda step: not step.success, reversed(history))
    reason = next((step.reason for step in failures if step.action == action), None)
    if reason is None:
        return []
    remedy = _remedy_of(action, reason) or "change something first"
    steps = declared_remedy(action, reason)
    return [ConsistencyWarning("no failed action twice", f"{action} has just failed ({reason})", remedy, steps)]


def _remedy_of(action: SkillCall, reason: FailureReason) -> str:
    skill = SKILLS.get(action.skill)
    return next((rule.remedy for rule in skill.preconditions if rule.reason is reason), "") if skill else ""


def _loop(action: SkillCall, history: Sequence[StepRecord]) -> list[ConsistencyWarning]:
    """Warn where the last actions and the next one are one action three times, or a short cycle twice over."""
    actions = [step.action for step in history] + [action]
    for length, times in ((1, 3), (2, 2), (3, 2)):
        recent = actions[-length * times :]
        if len(recent) == length * times and recent == recent[:length] * times:
            cycle = ", ".join(map(str, recent[:length]))
            return [ConsistencyWarning("progress", f"the last actions repeat: {cycle}", "try another way")]
    return []
