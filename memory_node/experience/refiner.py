"""Lets a language model read a finished episode: it adds to what the rules learnt, and every word of it is checked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.skill_text import library_text
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.class_actions import class_action
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.extractor import Lesson
from memory_node.experience.guideline import Guideline
from memory_node.experience.lesson_reply import GuidelineReply, LessonReply, parse_lesson_reply
from memory_node.experience.record import ExperienceRecord
from memory_node.experience.remedy import broken_rules, described
from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import ChatModel, Message
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LateError, LlmError, RejectedReplyError
from memory_node.llm.json_reply import json_form
from memory_node.llm.open_model import ModelShelf
from memory_node.llm.prompt_templates import prompt_templates

# What of an episode and its past the model is shown at most.
_STEPS_SHOWN = 60
_EARLIER_SHOWN = 4


class RefinementError(RobotMemoryError):
    """The model gave nothing that could be taken over; the message says why."""


class Refiner(Protocol):
    """Adds to the lesson that the rules drew from an episode."""

    def refine(
        self, lesson: Lesson, episode: EpisodeSummary, steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord]
    ) -> Lesson:
        """Return the lesson with what can be added; earlier: records of compatible tasks.

        Raises:
            RefinementError: nothing could be added.
        """

    def figures(self) -> dict[str, int]:
        """Return how often it succeeded and failed, by reason."""


class LlmRefiner:
    """A Refiner that asks a language model.

    deadline_s: for one episode, all repairs included. max_repairs: how often a faulty reply is sent back. kinds: what
    the skills need.
    """

    def __init__(self, model: ChatModel, deadline_s: float, max_repairs: int, kinds: ObjectCatalogue) -> None:
        self._model = model
        self._library = library_text(classes=kinds.needs_of_skills())
        self._deadline_s = deadline_s
        self._max_repairs = max_repairs
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._prompts = prompt_templates()

    def refine(
        self, lesson: Lesson, episode: EpisodeSummary, steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord]
    ) -> Lesson:
        """Return the rules' lesson with the model's reading of the episode; see Refiner."""
        earlier = [record for record in earlier if record.episode_id != episode.id][-_EARLIER_SHOWN:]
        classes = frozenset(lesson.record.objects).union(*(record.objects for record in earlier))
        repair = self._prompts.get_template("experience_lesson_repair.j2")
        question = Question(
            self._dialogue(lesson, steps, earlier),
            lambda text: parse_lesson_reply(text, lesson.record, classes),
            lambda error: repair.render(error=error),
            json_form(LessonReply),
        )
        try:
            reply = ask(
                self._model,
                question,
                Deadline(self._deadline_s),
                self._max_repairs,
                on_rejected=lambda error: self._count(f"rejected.{error.reason}"),
            )
        except LlmError as error:
            if not isinstance(error, RejectedReplyError):
                self._count("late" if isinstance(error, LateError) else "unanswered")
            raise RefinementError(str(error)) from error
        self._count("taken")
        return _refined(lesson, reply)

    def figures(self) -> dict[str, int]:
        """Return how many replies were taken, unanswered, late, and rejected by reason."""
        with self._lock:
            return {f"lessons.llm.{name}": count for name, count in sorted(self._counts.items())}

    def _dialogue(
        self, lesson: Lesson, steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord]
    ) -> tuple[Message, ...]:
        system = self._prompts.get_template("experience_lesson_system.j2").render(library=self._library)
        shown = [
            {
                "action": class_action(step),
                "outcome": "done" if step.success else f"failed: {step.reason}",
                "message": step.message[:120],
                "holding": step.held_object,
                "room": step.room,
                "wanting": [str(rule.fact) for rule in broken_rules(step.action, step.reason)],
            }
            for step in steps[-_STEPS_SHOWN:]
        ]
        task = self._prompts.get_template("experience_lesson_task.j2").render(
            record=lesson.record,
            steps=shown,
            left_out=max(len(steps) - _STEPS_SHOWN, 0),
            earlier=earlier,
            known=[guideline.text for guideline in lesson.guidelines],
        )
        return (Message("system", system), Message("user", task))

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1


def open_refiner(config: ExperienceConfig, models: ModelShelf, kinds: ObjectCatalogue) -> Refiner | None:
    """Return what the configuration names: a language model, or None where the rules alone learn."""
    if config.extractor == "rules":
        return None
    return LlmRefiner(models.open_or_excuse(config.llm), config.llm.timeout_s, config.llm.max_repairs, kinds)


def _refined(lesson: Lesson, reply: LessonReply) -> Lesson:
    """Return the lesson with the model's opinions; what happened stays as it was recorded."""
    record = replace(
        lesson.record,
        success_patterns=tuple(reply.success_patterns) or lesson.record.success_patterns,
        failure_causes=tuple(dict.fromkeys((*lesson.record.failure_causes, *reply.failure_causes))),
        insights=tuple(dict.fromkeys((*lesson.record.insights, *reply.insights))),
        recommendations=tuple(dict.fromkeys((*lesson.record.recommendations, *reply.recommendations))),
        by="language model",
    )
    known = {guideline.key for guideline in lesson.guidelines}
    added = {g.key: g for g in (_guideline(one, record) for one in reply.guidelines) if g.key not in known}
    return Lesson(record, (*lesson.guidelines, *added.values()))


def _guideline(reply: GuidelineReply, record: ExperienceRecord) -> Guideline:
    task_types = frozenset({record.task_type}) if record.task_type else frozenset()
    words = " ".join(reply.text.casefold().rstrip(".!").split())
    key = f"advice|{record.task_type}|{words}"
    repair = reply.repair
    remedy = repair.calls if repair is not None else ()
    if repair is not None:
        key = f"repair|{repair.skill}|{repair.reason}|do {described(remedy)}"
    return Guideline(
        key=key,
        text=reply.text,
        task_types=task_types,
        object_classes=frozenset(reply.object_classes),
        helped_ns=record.stamp_ns,
        episode_ids=(record.episode_id,),
        kind="repair" if repair is not None else "advice",
        skill=repair.skill if repair is not None else "",
        reason=repair.reason if repair is not None else "",
        remedy=remedy,
    )
