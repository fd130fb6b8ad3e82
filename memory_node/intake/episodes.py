"""Records episodes: gives experience the steps, completed with what memory knows of the robot and its surroundings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import replace

from memory_node.context.told_contexts import ToldContexts
from memory_node.context.whereabouts import held_object
from memory_node.domain.advice import Advice
from memory_node.domain.clock import Clock
from memory_node.domain.skill import SkillCall, StateChange
from memory_node.domain.step import NO_COST, ModelCost, StepRecord
from memory_node.episodes.consistency import ConsistencyWarning
from memory_node.episodes.deed_log import DeedLog
from memory_node.intake.deed_of_step import deed_of
from memory_node.intake.meant_object import named_by_class
from memory_node.intake.step_surroundings import with_surroundings
from memory_node.intake.task_objects import TaskObjects
from memory_node.intake.told_relations import told_relations
from memory_node.lessons.experience import Experience
from memory_node.scene_graph.graph import SceneGraph

# The rules take milliseconds; only at start-up, when stored episodes are being loaded, a lesson comes later.
_LESSON_S = 2.0


class Episodes:
    """An `ExperiencePort` in the memory's own process; thread-safe.

    lock: guards the scene graph. remember: takes over what a step tells of where things are. task_objects: learns what
    the episodes are about. told: what each context said. deeds: what
    was done with which thing.
    """

    def __init__(
        self,
        experience: Experience,
        scene: SceneGraph,
        lock: threading.RLock,
        remember: Callable[[Sequence[StateChange]], object],
        task_objects: TaskObjects,
        told: ToldContexts,
        clock: Clock,
        deeds: DeedLog,
    ) -> None:
        self._deeds = deeds
        self._experience = experience
        self._scene = scene
        self._lock = lock
        self._remember = remember
        self._task_objects = task_objects
        self._told = told
        self._clock = clock
        for episode in experience.running:
            task_objects.start(episode.id, episode.instruction)

    @property
    def max_attempts(self) -> int:
        """How often one task may be tried, the first time counted in."""
        return self._experience.max_attempts

    def start(self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1) -> str:
        """Begin an episode, or go on with it, and return its id; its instruction is the task that states matter for."""
        with self._lock:
            held = held_object(self._scene)
        in_hand = held.object_class if held is not None else ""
        started_id = self._experience.start(instruction, task_type, episode_id, attempt, in_hand)
        self._task_objects.start(started_id, instruction)
        return started_id

    def advise(self, episode_id: str, action: SkillCall, objects: Sequence[str] = ()) -> tuple[Advice, ...]:
        """Return what to do before `action`; see Experience.advise."""
        self._task_objects.touch(episode_id, objects)
        with self._lock:
            named = named_by_class(action, self._scene)
        return self._experience.advise(episode_id, named, objects)

    def record(self, step: StepRecord, context_id: str = "") -> tuple[ConsistencyWarning, ...]:
        """Record a step of a running episode, with what memory knows of it; return its warnings.

        What the skill changed is told by `remember`, before; of the step itself only the relations that it names go
        into the scene graph, where they are news. A zero stamp means now. context_id: of the context by which the step
        was chosen; the lessons in it count as given from now on.

        Raises:
            NotFoundError: the episode is not running.
        """
        key_classes = self._experience.key_classes(step.episode_id)
        step = replace(step, stamp_ns=step.stamp_ns or self._clock())
        with self._lock:
            told = told_relations(step, self._scene)
            known = self._with_hand(replace(step, action=named_by_class(step.action, self._scene)))
            surrounded = with_surroundings(known, self._scene, key_classes)
            deed = deed_of(step, self._scene, self._deeds.last("PickupObject"))
        warnings = self._experience.record(surrounded)
        if deed is not None:
            self._deeds.add(deed)
        if told:
            self._remember(told)
        return (*warnings, *self._note_context(context_id, step))

    def end(self, episode_id: str, success: bool | None, message: str = "", cost: ModelCost = NO_COST) -> None:
        """End an episode; None: nobody can say how it went.

        Returns when the rules have drawn their lesson, so that another attempt begins with it, or after a short while.
        A language model reads the episode later. message: why it failed, as the planner sees it. cost: of its model.

        Raises:
            NotFoundError: the episode is not known.
        """
        self._task_objects.end(episode_id)
        lesson = self._experience.end(episode_id, success, message, cost)
        if lesson is not None:
            wait([lesson], _LESSON_S)

    def _with_hand(self, step: StepRecord) -> StepRecord:
        """Return the step with what the hand holds after it, as memory knows it; a value given by the caller wins."""
        held = held_object(self._scene)
        return step if step.held_object or held is None else replace(step, held_object=held.object_class)

    def _note_context(self, context_id: str, step: StepRecord) -> tuple[ConsistencyWarning, ...]:
        if not context_id:
            return ()
        lessons = self._told.lessons_of(context_id)
        if lessons is None:
            detail = f"context {context_id!r} is not remembered, so nothing in it counts as given"
            return (ConsistencyWarning("a context that memory told", detail, "ask for the context again"),)
        self._experience.note_given(lessons, step.episode_id)
        self._told.note_step(context_id, step.episode_id, step.index)
        return ()

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one."""
        return self._experience.may_retry(attempt)
