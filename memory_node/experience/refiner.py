"""Lets a language model read a finished episode: it adds to what the rules learnt, and every word of it is checked."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import jinja2

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.chat_model import ChatModel, ChatModelError, Message, OpenAiChatModel
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.resources import resource_path
from memory_node.domain.skill_library import library_text
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.class_actions import class_action
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.extractor import Lesson
from memory_node.experience.guideline import Guideline
from memory_node.experience.lesson_reply import GuidelineReply, LessonReply, RejectedReplyError, parse_lesson_reply
from memory_node.experience.record import ExperienceRecord
from memory_node.experience.remedy import broken_rules, described

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
        loader = jinja2.FileSystemLoader(str(resource_path("config/prompts")))
        self._prompts = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True)

    def refine(
        self, lesson: Lesson, episode: EpisodeSummary, steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord]
    ) -> Lesson:
        """Return the rules' lesson with the model's reading of the episode; see Refiner."""
        earlier = [record for record in earlier if record.episode_id != episode.id][-_EARLIER_SHOWN:]
        classes = frozenset(lesson.record.objects).union(*(record.objects for record in earlier))
        try:
            reply = self._ask(self._dialogue(lesson, steps, earlier), lesson.record, classes)
        except (ChatModelError, RejectedReplyError, TimeoutError) as error:
            raise RefinementError(str(error)) from error
        self._count("taken")
        return _refined(lesson, reply)

    def figures(self) -> dict[str, int]:
        """Return how many replies were taken, unanswered, late, and rejected by reason."""
        with self._lock:
            return {f"lessons.llm.{name}": count for name, count in sorted(self._counts.items())}

    def _ask(self, dialogue: list[Message], record: ExperienceRecord, classes: frozenset[str]) -> LessonReply:
        deadline = time.monotonic() + self._deadline_s
        for repairs_left in range(self._max_repairs, -1, -1):
            try:
                reply = self._model.reply(dialogue, timeout_s=self._left_s(deadline))
            except ChatModelError:
                self._count("late" if time.monotonic() >= deadline else "unanswered")
                raise
            self._left_s(deadline)
            try:
                return parse_lesson_reply(reply.text, record, classes)
            except RejectedReplyError as error:
                self._count(f"rejected.{error.reason}")
                if not repairs_left:
                    raise
                repair = self._prompts.get_template("experience_lesson_repair.j2").render(error=str(error))
                dialogue = [*dialogue[:2], _message("assistant", reply.text), _message("user", repair)]
        raise AssertionError("the loop ends by returning or raising")

    def _left_s(self, deadline: float) -> float:
        left_s = deadline - time.monotonic()
        if left_s <= 0.0:
            self._count("late")
            raise TimeoutError(f"no lesson within {self._deadline_s:g} s")
        return left_s

    def _dialogue(
        self, lesson: Lesson, steps: Sequence[StepRecord], earlier: Sequence[ExperienceRecord]
    ) -> list[Message]:
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
        return [_message("system", system), _message("user", task)]

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1


def open_refiner(config: ExperienceConfig, kinds: ObjectCatalogue | None = None) -> Refiner | None:
    """Return what the configuration names: a language model, or None where the rules alone learn."""
    if config.extractor == "rules":
        return None
    model = OpenAiChatModel(config.chat_config())
    return LlmRefiner(model, config.llm_deadline_s, config.llm_max_repairs, kinds or load_catalogue())


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


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
