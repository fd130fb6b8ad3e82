"""Attempts that have ended: what each was, what came of it, and which are most like a query."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import islice
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_action, class_arguments
from memory_node.episodes.episode_graph import StateKey
from memory_node.world.skills import broken_rules

ATTEMPTS = "experience_record"


@dataclass(frozen=True)
class PastAttempt:
    """done: its actions that succeeded, over classes, as "Skill(Class, ...)". room: where most of its steps were.
    failure_causes: what failed and why, in words. began_in, began_with: room and facts of the state in which it began,
    "" where nobody noted them. reasoning: for each step why it was chosen, () where nobody said."""

    episode_id: str
    task: str
    task_type: str
    success: bool
    stamp_ns: int
    room: str = ""
    objects: tuple[str, ...] = ()
    failure_causes: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    began_in: str = ""
    began_with: str = ""
    reasoning: tuple[str, ...] = ()

    @property
    def first_state(self) -> StateKey | None:
        """The state in which it began, None where nobody noted it."""
        return StateKey(self.began_in, self.began_with) if self.began_with else None

    def reasoning_of(self, source: str) -> str:
        """Return why a step ("episode:step") was chosen, "" where nobody said."""
        return dict(enumerate(self.reasoning)).get(int(source.rpartition(":")[2]), "")

    def with_reasoning(self, steps: Sequence[StepRecord]) -> tuple[StepRecord, ...]:
        """Return all of its steps, as they are stored, with why they were chosen."""
        if len(steps) != len(self.reasoning):
            return tuple(steps)
        return tuple(replace(step, reasoning=why) if why else step for step, why in zip(steps, self.reasoning))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the store."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PastAttempt:
        """Return the attempt of stored values; what a reader of earlier releases made of it is left out.

        Raises:
            InvalidValueError: values are missing.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        # A million stored steps repeat a few thousand actions; each is kept once.
        listed: dict[str, Any] = {
            name: tuple(map(sys.intern, value)) if isinstance(value, list | tuple) else value
            for name, value in {"done": values.get("successful_actions", ()), **values}.items()
            if name in known
        }
        try:
            return cls(**listed)
        except TypeError as error:
            raise InvalidValueError(f"PastAttempt: {error}") from None


def attempt_of_episode(episode: EpisodeSummary, steps: Sequence[StepRecord], first: StateKey) -> PastAttempt:
    """Return an ended episode as an attempt. first: the state in which it began."""
    objects = dict.fromkeys(name for step in steps for name in class_arguments(step))
    causes = [_cause(step) for step in steps if not step.success]
    if not episode.success:
        causes.append(episode.message)
    rooms = Counter(step.room for step in steps if step.room)
    return PastAttempt(
        episode_id=episode.id,
        task=episode.instruction,
        task_type=episode.task_type,
        success=bool(episode.success),
        stamp_ns=episode.ended_ns,
        room=max(rooms, key=rooms.__getitem__, default=""),
        objects=tuple(objects),
        failure_causes=tuple(dict.fromkeys(cause for cause in causes if cause)),
        done=tuple(class_action(step) for step in steps if step.success),
        began_in=first.room,
        began_with=first.summary,
        reasoning=tuple(step.reasoning for step in steps) if any(step.reasoning for step in steps) else (),
    )


def _cause(step: StepRecord) -> str:
    missing = ", ".join(str(rule.fact) for rule in broken_rules(SKILLS.get(step.action.skill), step.reason))
    return f"{class_action(step)}: {step.reason}" + (f", for want of {missing}" if missing else "")


# Weight of each agreement. The task type weighs most, because one asks what worked for a task.
_TASK, _OBJECT, _ROOM = 0.5, 0.35, 0.15
# Share of facts from which two first states are alike; what is newer counts more than a thing more in view.
_ALIKE = 0.5
# Only the newest records of each posting list are compared: older ones of the same kind add little.
_NEWEST = 200


class AttemptIndex:
    """Past attempts by task type, object and room; not thread-safe."""

    def __init__(self) -> None:
        self._records: dict[str, PastAttempt] = {}
        self._postings: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._records

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the episodes."""
        return iter(self._records)

    def add(self, record: PastAttempt) -> None:
        """Add a record, or replace the one of the same episode."""
        self.remove(record.episode_id)
        self._records[record.episode_id] = record
        for posting in _postings(record):
            self._postings[posting][record.episode_id] = None

    def remove(self, episode_id: str) -> None:
        """Remove an episode's record, if there is one."""
        record = self._records.pop(episode_id, None)
        for posting in _postings(record) if record else ():
            self._postings[posting].pop(episode_id, None)

    def of_task(self, task_type: str) -> list[PastAttempt]:
        """Return the newest records of a task type, oldest of them first."""
        return [self._records[i] for i in _newest(self._posted("task", task_type))]

    def get(self, episode_id: str) -> PastAttempt | None:
        """Return the record of an episode, None where there is none."""
        return self._records.get(episode_id)

    def similar(
        self, task_type: str, objects: Iterable[str], room: str, k: int, first: StateKey | None = None
    ) -> list[PastAttempt]:
        """Return the k records most like the query, most similar first; among equals those first that began like it
        (`first`), then newer ones."""
        wanted = set(objects)
        of_task, of_room = self._posted("task", task_type), self._posted("room", room)
        of_objects = [self._posted("object", name) for name in wanted]
        candidates = {i for posted in (of_task, of_room, *of_objects) for i in _newest(posted)}
        share = _OBJECT / len(wanted) if wanted else 0.0

        def rank(episode_id: str) -> tuple[float, bool, int, str]:
            record = self._records[episode_id]
            began = record.first_state if first is not None else None
            is_alike = first is not None and began is not None and first.likeness(began) >= _ALIKE
            score = _TASK * (episode_id in of_task) + _ROOM * (episode_id in of_room)
            score += share * sum([episode_id in posted for posted in of_objects])
            return -score, not is_alike, -record.stamp_ns, episode_id

        return [self._records[i] for *_, i in nsmallest(k, map(rank, candidates))]

    def _posted(self, kind: str, name: str) -> dict[str, None]:
        return self._postings.get((kind, name), {}) if name else {}


def _newest(posted: dict[str, None]) -> list[str]:
    return list(islice(reversed(posted), _NEWEST))[::-1]


def _postings(record: PastAttempt) -> list[tuple[str, str]]:
    objects = [("object", name) for name in record.objects]
    return [("task", record.task_type), ("room", record.room), *objects]
