"""What all ended episodes left: the graph of what was done, the attempts and the bank of lessons, within bounds; and
what it answers for a place and a task."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memory_node.domain.step import StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.episodes.episode_graph import EpisodeGraph, Transition
from memory_node.episodes.past_attempt import AttemptIndex, PastAttempt
from memory_node.episodes.working_memory import WorkingMemoryView
from memory_node.lessons import plugmem
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.brainmem import utility
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.lesson import Lesson

_HINTS_A_CLASS, _MOST_FAILED = 3, 5


@dataclass(frozen=True)
class ExperienceQuery:
    """BrainMem's query: where the robot is, what kind of task it has, in which words, with which objects."""

    room: str = ""
    task_type: str = ""
    objects: tuple[str, ...] = ()
    episode_id: str = ""
    instruction: str = ""


@dataclass(frozen=True)
class ExperienceAnswer:
    """What experience knows for a query; every part may be empty.

    room: the one that it is about.
    """

    room: str
    lessons: tuple[Lesson, ...] = ()
    room_patterns: tuple[tuple[str, int, int], ...] = ()
    experiences: tuple[PastAttempt, ...] = ()
    failed_before: tuple[Transition, ...] = ()
    action_hints: tuple[tuple[str, str, int, int], ...] = ()
    learnt_relations: tuple[tuple[str, int], ...] = ()
    working_memory: WorkingMemoryView | None = None


# Attempts at a kind of task for which a failure is recalled.
_ATTEMPTS_RECALLED = 20


class LongTermExperience:
    """Episodic and semantic memory; not thread-safe."""

    def __init__(self, config: ExperienceConfig, bank: LessonBank) -> None:
        self._config = config
        self.graph = EpisodeGraph()
        self.attempts = AttemptIndex()
        self.bank = bank

    def load(self, attempts: Iterable[PastAttempt], lessons: Iterable[Lesson]) -> None:
        """Take over stored attempts and lessons."""
        for attempt in attempts:
            self.attempts.add(attempt)
        self.bank.load(lessons)

    def add_episode(self, episode_id: str, steps: Sequence[StepRecord]) -> None:
        """Take over an ended episode's steps."""
        self.graph.add(episode_id, steps)
        self.graph.close(episode_id)
        self._keep_newest()

    def follow(self, episode_id: str, steps: Sequence[StepRecord], newest: StepRecord) -> None:
        """Take over a step of a running episode; steps: all so far, as one that comes late is put in its place."""
        if newest is steps[-1]:
            self.graph.append(episode_id, newest)
        else:
            self.graph.add(episode_id, steps)
        self._keep_newest()

    def _keep_newest(self) -> None:
        """Let the oldest episodes go beyond the bound."""
        while self.graph.step_count > self._config.graph_steps and self.graph.oldest:
            oldest = self.graph.oldest
            self.graph.forget(oldest)
            self.attempts.remove(oldest)

    def renew(self, lesson: Lesson) -> tuple[Lesson, Lesson | None]:
        """Put a lesson in the place of the one of its id, whose worth it keeps; return what is kept, and what went for
        it."""
        known = self.bank.get(lesson.id)
        if known is not None:
            lesson = replace(
                lesson,
                given=known.given,
                withheld=known.withheld,
                support=max(known.support, lesson.support),
                helped_ns=max(known.helped_ns, lesson.helped_ns),
            )
        return lesson, self.bank.put(lesson)

    def add_way(self, way: Lesson) -> tuple[Lesson, Lesson | None]:
        """Add a way, or its part to the equal one; return what is kept, and what went for it."""
        known = self.bank.get(way.id)
        kept = plugmem.merged(known, way) if known is not None else way
        return kept, self.bank.put(kept)

    def acted_on(self, given: Collection[str], steps: Sequence[StepRecord]) -> frozenset[str]:
        """Return the lessons that a planner was given and acted on: a way that no steps followed has not helped."""
        done = [class_call(step.action) for step in steps if step.success]
        ways = ((key, self.bank.get(key)) for key in given)
        return frozenset(
            key
            for key, lesson in ways
            if lesson is None or lesson.writer != plugmem.WRITER or plugmem.is_followed(lesson, done)
        )

    def answer(self, query: ExperienceQuery) -> ExperienceAnswer:
        """Return what is known for a query, of the parts and graphs that the config names."""
        parts, graphs = self._config.parts, self._config.graphs
        lessons = self._lessons_for(query) if "semantic" in parts else ()
        if "episodic" not in parts:
            return ExperienceAnswer(query.room, lessons)
        graph, in_room = self.graph, graphs if query.room else frozenset[str]()
        similar = self.attempts.similar(query.task_type, query.objects, query.room, self._config.top_k)
        hints = [(name, *hint) for name in query.objects for hint in graph.action_hints(name, _HINTS_A_CLASS)]
        tried = self.attempts.of_task(query.task_type)[-_ATTEMPTS_RECALLED:] if query.task_type else []
        failed = graph.failed_transitions({one.episode_id for one in (*tried, *similar)})[:_MOST_FAILED]
        return ExperienceAnswer(
            query.room,
            lessons,
            room_patterns=tuple(graph.room_patterns(query.room)) if "rooms" in in_room else (),
            experiences=tuple(similar) if "trajectories" in graphs else (),
            failed_before=tuple(failed) if "actions" in graphs else (),
            action_hints=tuple(hints) if "actions" in graphs else (),
            learnt_relations=tuple(graph.learnt_relations(query.room)) if "relations" in in_room else (),
        )

    def _lessons_for(self, query: ExperienceQuery) -> tuple[Lesson, ...]:
        """Return the lessons of related tasks, the nearest first, then those about this kind of task and these things,
        most useful first; at most `active_guidelines`."""
        nearest = self.bank.related(query.instruction)
        near = {lesson.id for lesson in nearest}
        about = [one for one in self.bank if one.id not in near and not one.situation]
        fitting = [one for one in about if one.applies(query.task_type, query.objects, query.room)]
        newest_ns = max((one.helped_ns for one in fitting), default=0)
        fitting.sort(key=lambda one: (-utility(one, newest_ns), one.id))
        return tuple(islice((*nearest, *fitting), self._config.active_guidelines))

    def forget(self, episode_id: str) -> tuple[list[Lesson], list[Lesson]]:
        """Withdraw an episode from all that was learnt; return the lessons that changed and those that went."""
        self.graph.forget(episode_id)
        self.attempts.remove(episode_id)
        put, gone = [], []
        for lesson in self.bank:
            is_way = lesson.writer == plugmem.WRITER
            left = plugmem.without(lesson, episode_id) if is_way else lesson.without(episode_id)
            if left is None:
                self.bank.remove(lesson.id)
                gone.append(lesson)
            elif left != lesson:
                self.bank.put(left)
                put.append(left)
        return put, gone

    def figures(self) -> dict[str, int]:
        """Return how much is known."""
        return {
            "experience.steps": self.graph.step_count,
            "experience.transitions": len(self.graph),
            "experience.attempts": len(self.attempts),
            "experience.lessons": len(self.bank),
        }
