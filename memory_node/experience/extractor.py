"""Learns from a finished episode without a language model: what repaired each failure, and what order worked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Protocol

from memory_node.domain.skill_library import SKILLS
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.episode_graph import lifted_action, lifted_arguments
from memory_node.experience.guideline import Guideline
from memory_node.experience.record import ExperienceRecord

# A common procedure shorter than this says nothing that the plan itself does not.
_MIN_PROCEDURE = 3


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
        """Return the record of the episode, and its repair and procedure guidelines."""
        repairs = _repairs(episode, steps)
        record = _record(episode, steps, repairs)
        procedure = _procedure(record, earlier)
        return Lesson(record, (*repairs, *([procedure] if procedure else [])))


def _repairs(episode: EpisodeSummary, steps: Sequence[StepRecord]) -> list[Guideline]:
    """Return for each kind of failure what made the same action succeed later, or the library's remedy."""
    found: dict[str, Guideline] = {}
    for index, step in enumerate(steps):
        if step.success:
            continue
        remedy = _repair_seen(step, steps[index + 1 :]) or _declared_remedy(step)
        if not remedy:
            continue
        key = f"repair|{step.action.skill}|{step.reason}|{remedy}"
        found[key] = Guideline(
            key=key,
            text=f"Before {step.action.skill}, {remedy}: otherwise it fails with {step.reason}.",
            task_types=frozenset({episode.task_type}) if episode.task_type else frozenset(),
            helped_ns=step.stamp_ns,
            episode_ids=(episode.id,),
        )
    return list(found.values())


def _repair_seen(failed: StepRecord, later: Sequence[StepRecord]) -> str:
    """Return the skills between a failure and the first success of the same action, if that came."""
    between: list[StepRecord] = []
    for step in later:
        if lifted_action(step) == lifted_action(failed):
            if step.success:
                # Retrying at once and succeeding was luck, not a repair.
                return "do " + ", then ".join(lifted_action(s) for s in between) if between else ""
            continue
        if step.success:
            between.append(step)
    return ""


def _declared_remedy(step: StepRecord) -> str:
    skill = SKILLS.get(step.action.skill)
    if skill is None:
        return ""
    return next((rule.remedy for rule in skill.preconditions if rule.reason is step.reason), "")


def _record(episode: EpisodeSummary, steps: Sequence[StepRecord], repairs: Sequence[Guideline]) -> ExperienceRecord:
    done = tuple(lifted_action(step) for step in steps if step.success)
    failed = tuple(lifted_action(step) for step in steps if not step.success)
    causes = tuple(f"{lifted_action(step)}: {step.reason}" for step in steps if not step.success)
    objects = dict.fromkeys(name for step in steps for name in lifted_arguments(step))
    rooms = [step.room for step in steps if step.room]
    return ExperienceRecord(
        episode_id=episode.id,
        task=episode.instruction,
        task_type=episode.task_type,
        success=bool(episode.success),
        stamp_ns=episode.ended_ns,
        room=max(set(rooms), key=rooms.count) if rooms else "",
        objects=tuple(objects),
        success_patterns=done if episode.success else (),
        failure_causes=tuple(dict.fromkeys(causes)),
        insights=tuple(repair.text for repair in repairs),
        successful_actions=done,
        failed_actions=failed,
        recommendations=tuple(repair.text for repair in repairs),
    )


def _procedure(record: ExperienceRecord, earlier: Sequence[ExperienceRecord]) -> Guideline | None:
    """Return the actions, by skill, that this and the last successful record of its task type share in order."""
    same = [r for r in earlier if r.success and r.task_type == record.task_type and r.episode_id != record.episode_id]
    if not record.success or not record.task_type or not same:
        return None
    mine, others = _skills(record), _skills(max(same, key=lambda r: (r.stamp_ns, r.episode_id)))
    blocks = SequenceMatcher(None, mine, others, autojunk=False).get_matching_blocks()
    shared = [skill for block in blocks for skill in mine[block.a : block.a + block.size]]
    if len(shared) < _MIN_PROCEDURE:
        return None
    order = ", then ".join(shared)
    return Guideline(
        key=f"procedure|{record.task_type}|{order}",
        text=f"For {record.task_type} tasks this order worked: {order}.",
        task_types=frozenset({record.task_type}),
        helped_ns=record.stamp_ns,
        episode_ids=(same[-1].episode_id, record.episode_id),
    )


def _skills(record: ExperienceRecord) -> list[str]:
    return [action.partition("(")[0] for action in record.successful_actions]
