"""The schema of a language model's reply about a finished episode, and how it is checked against what happened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_library import SKILLS
from memory_node.experience.record import ExperienceRecord
from memory_node.experience.remedy import template_from_text
from memory_node.llm.errors import RejectedReplyError
from memory_node.llm.json_reply import read_json

# One line of text: no control or invisible characters, which could pass for another part of a later prompt.
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=240, pattern=r"^\P{C}+$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^\w+$")]
ActionText = Annotated[str, StringConstraints(min_length=3, max_length=160, pattern=r"^\P{C}+$")]
Sentences = Annotated[list[Sentence], Field(max_length=8)]
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)

# What looks like a call, and what is spelt like a skill or a class: CamelCase of at least two words.
_CALLED = re.compile(r"\b([A-Z]\w*)\s*\(")
_SPACED_COMMA = re.compile(r"\s*,\s*")
_CAMEL = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b")


class RepairReply(BaseModel):
    """Before `skill`, do `before`, or it fails for `reason`."""

    model_config = _STRICT
    skill: Name
    reason: Name
    before: Annotated[list[ActionText], Field(min_length=1, max_length=3)]

    @property
    def calls(self) -> tuple[SkillCall, ...]:
        """The calls of `before`, as templates (see domain.advice)."""
        return tuple(template_from_text(text) for text in self.before)


class GuidelineReply(BaseModel):
    """One piece of advice; a repair says it in a form that a planner can carry out."""

    model_config = _STRICT
    text: Sentence
    object_classes: Annotated[list[Name], Field(max_length=4)] = []
    repair: RepairReply | None = None


class LessonReply(BaseModel):
    """What the model makes of an episode. The facts in it are asked for to see whether it read them right."""

    model_config = _STRICT
    success: bool
    successful_actions: Annotated[list[ActionText], Field(max_length=100)]
    failed_actions: Annotated[list[ActionText], Field(max_length=100)]
    success_patterns: Sentences
    failure_causes: Sentences
    insights: Sentences
    recommendations: Sentences
    guidelines: Annotated[list[GuidelineReply], Field(max_length=6)]


def parse_lesson_reply(text: str, record: ExperienceRecord, classes: Collection[str]) -> LessonReply:
    """Return a model's reply; record: what happened; classes: those that the model has been told of.

    Raises:
        RejectedReplyError: it is no JSON, breaks the schema, names what it was not told of, or contradicts the record.
    """
    reply = read_json(LessonReply, text)
    _check_facts(reply, record)
    for guideline in reply.guidelines:
        if guideline.repair is not None:
            _check_repair(guideline.repair, record, classes)
        _check_classes(guideline.object_classes, classes)
    for sentence in _sentences(reply):
        _check_names(sentence, classes)
    return reply


def _check_facts(reply: LessonReply, record: ExperienceRecord) -> None:
    if reply.success != record.success:
        raise RejectedReplyError("contradiction", f"success is {record.success}, the reply says {reply.success}")
    for name, happened in (
        ("successful_actions", record.successful_actions),
        ("failed_actions", record.failed_actions),
    ):
        told = Counter(_SPACED_COMMA.sub(", ", action.strip()) for action in getattr(reply, name))
        for action, times in (told - Counter(happened)).items():
            if action.partition("(")[0] not in SKILLS:
                raise RejectedReplyError("unknown_skill", f"{name}: {action}")
            raise RejectedReplyError("contradiction", f"{name}: {action} is given {times} time(s) too often")


def _check_repair(repair: RepairReply, record: ExperienceRecord, classes: Collection[str]) -> None:
    if repair.skill not in SKILLS:
        raise RejectedReplyError("unknown_skill", f"repair of {repair.skill}")
    causes = (f"{action}: {repair.reason}" for action in record.failed_actions if action.startswith(repair.skill + "("))
    known_causes = [cause.partition(", for want of")[0] for cause in record.failure_causes]
    if repair.reason not in set(FailureReason) or not any(cause in known_causes for cause in causes):
        raise RejectedReplyError("contradiction", f"{repair.skill} did not fail with {repair.reason}")
    own = {"{" + argument.name + "}" for argument in SKILLS[repair.skill].arguments}
    for text in repair.before:
        _check_classes(set(_call(text).arguments) - own, classes)


def _call(text: str) -> SkillCall:
    try:
        return template_from_text(text)
    except InvalidValueError as error:
        raise RejectedReplyError("unknown_skill", str(error)) from None


def _check_classes(named: Iterable[str], classes: Collection[str]) -> None:
    unknown = sorted(set(named) - set(classes))
    if unknown:
        raise RejectedReplyError("unknown_class", f"{', '.join(unknown)}; the episodes are about {sorted(classes)}")


def _check_names(sentence: str, classes: Collection[str]) -> None:
    for name in _CALLED.findall(sentence):
        if name not in SKILLS:
            raise RejectedReplyError("unknown_skill", f"{name} in {sentence!r}")
    for name in _CAMEL.findall(sentence):
        if name not in SKILLS:
            _check_classes([name], classes)


def _sentences(reply: LessonReply) -> Iterator[str]:
    lists: Sequence[Sequence[str]] = (
        reply.success_patterns,
        reply.failure_causes,
        reply.insights,
        reply.recommendations,
    )
    for sentences in lists:
        yield from sentences
    for guideline in reply.guidelines:
        yield guideline.text
