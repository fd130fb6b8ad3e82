"""Attempts at a game's task, told in kinds of things: no position, number or name of the game is left in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.lessons.lesson import LESSONS, Lesson

# A position behind a class ("Mug@12.0,5.0,0.5"), and a number behind a name ("shelf 3").
_POSITION = re.compile(r"@-?\d[-\d.,]*")
_NUMBER = re.compile(r" \d+\b")


@dataclass(frozen=True)
class GameEpisode:
    """One attempt. given: ids of the lessons that the planner was given."""

    summary: EpisodeSummary
    steps: tuple[StepRecord, ...] = ()
    given: frozenset[str] = frozenset()

    def from_stamp(self, began_ns: int) -> GameEpisode:
        """Return it with stamps that count from a moment."""
        told = self.summary
        summary = replace(told, started_ns=told.started_ns - began_ns, ended_ns=told.ended_ns - began_ns)
        return replace(
            self,
            summary=summary,
            steps=tuple(replace(step, stamp_ns=step.stamp_ns - began_ns) for step in self.steps),
        )

    def in_kinds(self, classes: Mapping[str, str]) -> GameEpisode:
        """Return it without what only this game has. classes: of the things that the text named, by their names."""
        summary = replace(
            self.summary,
            instruction=_in_kinds(self.summary.instruction, {}),
            message=_in_kinds(self.summary.message, classes),
        )
        return replace(self, summary=summary, steps=tuple(_lifted(step, classes) for step in self.steps))


def _lifted(step: StepRecord, classes: Mapping[str, str]) -> StepRecord:
    """Return a step over classes. The rooms of a game are plots that the robot made up: they say nothing elsewhere."""
    call = class_call(step.action)
    return replace(
        step,
        action=SkillCall(call.skill, tuple(classes.get(text, text) for text in call.arguments)),
        message=_in_kinds(step.message, classes),
        room="",
        area="",
        position=(0.0, 0.0, 0.0),
    )


def _in_kinds(text: str, classes: Mapping[str, str]) -> str:
    for name in sorted(classes, key=len, reverse=True):  # "drawer 10" before "drawer 1"
        text = text.replace(name, classes[name])
    return _NUMBER.sub("", _POSITION.sub("", text))


@dataclass
class EpisodeRecorder:
    """An `ExperienceLog` that keeps the episodes of one game. known: the lessons that the game began with."""

    known: Sequence[Lesson] = ()
    _summaries: dict[str, EpisodeSummary] = field(default_factory=dict)
    _steps: dict[str, list[StepRecord]] = field(default_factory=dict)
    _given: dict[str, set[str]] = field(default_factory=dict)
    _trials: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._trials = {lesson.id: lesson.given.trials for lesson in self.known}

    @property
    def episodes(self) -> tuple[GameEpisode, ...]:
        """All of them, in order."""
        return tuple(
            GameEpisode(summary, tuple(self._steps.get(key, ())), frozenset(self._given.get(key, ())))
            for key, summary in self._summaries.items()
        )

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep an episode as it stands now."""
        self._summaries[episode.id] = episode

    def put_step(self, step: StepRecord) -> None:
        """Keep a step; what came after the end of the game was not done."""
        if step.reason is not FailureReason.CANCELED:
            self._steps.setdefault(step.episode_id, []).append(step)

    def put_documents(self, kind: str, documents: Sequence[tuple[str, Mapping[str, Any], tuple[str, ...]]]) -> None:
        """Note which lessons were given in the episode that ended last: their trials have gone up."""
        for key, values, _ in documents if kind == LESSONS else ():
            trials = values["given"]["trials"]
            if trials > self._trials.get(key, 0):
                self._trials[key] = trials
                self._given.setdefault(next(reversed(self._summaries)), set()).add(key)

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Keep nothing of what goes."""
