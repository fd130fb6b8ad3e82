"""Learns from a finished episode without a language model: the missing fact of each failure, and the order that
worked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_action, class_arguments
from memory_node.episodes.remedy import broken_rules, declared_remedy, described, seen_remedy, spoken_classes
from memory_node.lessons.action_alignment import order_guidelines, procedure_guideline
from memory_node.lessons.guideline import Guideline, repair_key, repair_text
from memory_node.lessons.record import ExperienceRecord

# A fact about the robot is needed for every object; a fact about an object only for objects of its class.
_OF_THE_ROBOT = frozenset({Predicate.NEAR, Predicate.HOLDING, Predicate.HOLDING_TOOL, Predicate.HAND_EMPTY})


@dataclass(frozen=True)
class Lesson:
    """What one episode taught: its record, and guidelines that it supports."""

    record: ExperienceRecord
    guidelines: tuple[Guideline, ...]


class Extractor(Protocol):
    """Turns a finished episode into a lesson."""

    def extract(
        self, episode: EpisodeSummary, steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord]
    ) -> Lesson:
        """Return the lesson of `steps`, in the light of earlier records of compatible tasks."""


class RuleExtractor:
    """The deterministic extractor: the same episodes always teach the same."""

    def extract(
        self, episode: EpisodeSummary, steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord]
    ) -> Lesson:
        """Return the record of the episode, and its repair, order and procedure guidelines."""
        repairs = _repairs(episode, steps)
        record = record_of(episode, steps, [repair.text for repair in repairs])
        same = [r for r in earlier if r.success and r.task_type == record.task_type and r.episode_id != episode.id]
        successes = [*same, record] if record.success and record.task_type and same else []
        found = procedure_guideline(successes) if successes else None
        return Lesson(record, (*repairs, *order_guidelines(successes), *([found] if found else [])))


def record_of(episode: EpisodeSummary, steps: Sequence[StepRecord], insights: Sequence[str]) -> ExperienceRecord:
    """Return the record of the facts; only the insights are an interpretation."""
    done = tuple(class_action(step) for step in steps if step.success)
    objects = dict.fromkeys(name for step in steps for name in class_arguments(step))
    return ExperienceRecord(
        episode_id=episode.id,
        task=episode.instruction,
        task_type=episode.task_type,
        success=bool(episode.success),
        stamp_ns=episode.ended_ns,
        room=_main_room(steps),
        objects=tuple(objects),
        success_patterns=done if episode.success else (),
        failure_causes=_failure_causes(episode, steps),
        insights=tuple(insights),
        successful_actions=done,
        failed_actions=tuple(class_action(step) for step in steps if not step.success),
        recommendations=tuple(insights),
    )


def _main_room(steps: Sequence[StepRecord]) -> str:
    """Return the room of the most steps, the first of them where several are; "" where no step's is known."""
    rooms = Counter(step.room for step in steps if step.room)
    return max(rooms, key=rooms.__getitem__, default="")


def _failure_causes(episode: EpisodeSummary, steps: Sequence[StepRecord]) -> tuple[str, ...]:
    causes = [_cause(step) for step in steps if not step.success]
    if not episode.success:
        causes.append(episode.message)
    return tuple(dict.fromkeys(cause for cause in causes if cause))


def _cause(step: StepRecord) -> str:
    missing = ", ".join(str(rule.fact) for rule in broken_rules(step.action, step.reason))
    return f"{class_action(step)}: {step.reason}" + (f", for want of {missing}" if missing else "")


def _repairs(episode: EpisodeSummary, steps: Sequence[StepRecord]) -> list[Guideline]:
    """Return for each kind of failure what made the same action succeed later, or the library's remedy."""
    found: dict[str, Guideline] = {}
    for index, step in enumerate(steps):
        repair = None if step.success or not step.reason.teaches else _repair(episode, step, steps[index + 1 :])
        if repair is not None:
            known = found.get(repair.key)
            found[repair.key] = known.merged(repair, supports_kept=1) if known else repair
    return list(found.values())


def _repair(episode: EpisodeSummary, step: StepRecord, later: Sequence[StepRecord]) -> Guideline | None:
    remedy = seen_remedy(step, later) or declared_remedy(step.action, step.reason)
    rules = broken_rules(step.action, step.reason)
    skill, reason = step.action.skill, str(step.reason)
    if remedy:
        what = f"do {described(remedy)}"
    elif rules:
        what = rules[0].remedy
    else:
        return None
    classes = frozenset(class_arguments(step))
    general = bool(rules) and all(rule.fact.predicate in _OF_THE_ROBOT for rule in rules)
    return Guideline(
        key=repair_key(skill, reason, what),
        text=repair_text(skill, reason, what),
        # A precondition that the library declares is needed in every task.
        task_types=frozenset() if rules or not episode.task_type else frozenset({episode.task_type}),
        # A remedy on another thing than the action's arguments (the fridge that contains it) is known to help these
        # classes only.
        object_classes=frozenset() if general else spoken_classes(step.action, remedy) or classes,
        helped_ns=step.stamp_ns,
        episode_ids=(episode.id,),
        kind="repair",
        skill=skill,
        reason=reason,
        remedy=remedy,
    )
