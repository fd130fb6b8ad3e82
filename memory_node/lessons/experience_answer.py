"""The question to experience for a place and a task, and its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memory_node.episodes.episode_graph import Transition
from memory_node.episodes.past_attempt import PastAttempt
from memory_node.episodes.working_memory import WorkingMemoryView
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.long_term import LongTermExperience

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


def answer_to(query: ExperienceQuery, long_term: LongTermExperience, config: ExperienceConfig) -> ExperienceAnswer:
    """Return what long-term experience knows, of the parts and graphs that the config names."""
    answer = ExperienceAnswer(query.room)
    if "semantic" in config.parts:
        found = long_term.lessons_for(query.instruction, query.task_type, query.objects, query.room)
        answer = replace(answer, lessons=found)
    return _with_episodes(answer, query, long_term, config) if "episodic" in config.parts else answer


def _with_episodes(
    answer: ExperienceAnswer, query: ExperienceQuery, long_term: LongTermExperience, config: ExperienceConfig
) -> ExperienceAnswer:
    graph, graphs = long_term.graph, config.graphs
    similar = long_term.similar(query.task_type, query.objects, query.room)
    if query.room and "rooms" in graphs:
        answer = replace(answer, room_patterns=tuple(graph.room_patterns(query.room)))
    if query.room and "relations" in graphs:
        answer = replace(answer, learnt_relations=tuple(graph.learnt_relations(query.room)))
    if "actions" in graphs:
        hints = ((name, *hint) for name in query.objects for hint in graph.action_hints(name, _HINTS_A_CLASS))
        failed = long_term.failed_before(query.task_type, similar)[:_MOST_FAILED]
        answer = replace(answer, action_hints=tuple(hints), failed_before=tuple(failed))
    if "trajectories" in graphs:
        answer = replace(answer, experiences=tuple(similar))
    return answer
