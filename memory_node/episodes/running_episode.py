"""One running episode. Its steps are in order, even if they arrive out of order or repeatedly."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_arguments, class_call
from memory_node.episodes.consistency import ConsistencyWarning
from memory_node.episodes.working_memory import WorkingMemory


class RunningEpisode:
    """Steps and working memory (`memory`) of one attempt; not thread-safe.

    held: what the hand held when it began, as a class. kinds: by default the household's. classes: the classes of its
    steps so far, its key objects.
    """

    def __init__(
        self, summary: EpisodeSummary, window: int, held: str = "", kinds: ObjectCatalogue | None = None
    ) -> None:
        self.summary = summary
        self.given: set[str] = set()
        self._asked_for: tuple[SkillCall | None, frozenset[str]] = (None, frozenset())
        self._window = window
        self._held = held
        self._kinds = kinds
        self._steps: dict[int, StepRecord] = {}
        self.classes: set[str] = set()
        self.memory = WorkingMemory(window, held, kinds)

    def __contains__(self, index: int) -> bool:
        """Return whether a step of this index was recorded."""
        return index in self._steps

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """The steps so far, by index."""
        return tuple(self._steps[index] for index in sorted(self._steps))

    @property
    def room(self) -> str:
        """The room of the last step; "" when it is not known."""
        return self._steps[max(self._steps)].room if self._steps else ""

    @property
    def last_ns(self) -> int:
        """Stamp of the last sign of life."""
        return max([self.summary.started_ns, *(step.stamp_ns for step in self._steps.values())])

    def record(self, step: StepRecord) -> tuple[ConsistencyWarning, ...]:
        """Take a step; the same index again changes nothing; one that comes late is put in its place."""
        if step.index in self._steps:
            return ()
        late = bool(self._steps) and step.index < max(self._steps)
        self._steps[step.index] = step
        self.classes.update(class_arguments(step))
        if not late:
            return self.memory.record(step)
        # Working memory follows the order of the steps, so a late one rebuilds it.
        self.memory = WorkingMemory(self._window, self._held, self._kinds)
        return [self.memory.record(ordered) for ordered in self.steps][-1]

    def give(self, lesson_ids: frozenset[str], goal: SkillCall | None = None) -> None:
        """Note that a planner was given lessons. goal: the call that they ask for next."""
        self.given |= lesson_ids
        if goal is not None:
            self._asked_for = (class_call(goal), lesson_ids)

    def followed(self, step: StepRecord) -> frozenset[str]:
        """Return the lessons that asked for a step, none where another one was taken; each answer is given once."""
        goal, lesson_ids = self._asked_for
        self._asked_for = (None, frozenset())
        return lesson_ids if goal is not None and class_call(step.action) == goal else frozenset()

    def ended(self, success: bool | None, stamp_ns: int, message: str = "") -> EpisodeSummary:
        """Return the summary of the finished episode."""
        return replace(self.summary, success=success, ended_ns=max(stamp_ns, self.last_ns), message=message)
