"""What a compiler is told at one step (o_t), what it delivers, and what every compiler is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.context.beliefs import Beliefs
from memory_node.context.brief_state import BriefState, Delta
from memory_node.context.task_memory import Entry, TaskMemory
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.domain.text_enum import TextEnum


@dataclass(frozen=True)
class TakenStep:
    """A skill that has ended. object_id: the robot's own id of the thing that it was about, "" where it told none."""

    call: SkillCall
    success: bool
    reason: FailureReason = FailureReason.NONE
    object_id: str = ""

    def __post_init__(self) -> None:
        if self.success != (self.reason is FailureReason.NONE):
            raise InvalidValueError(f"TakenStep {self.call}: success={self.success} with reason {self.reason}")


@dataclass(frozen=True)
class StepObservation:
    """o_t. All references are those of the robot's calls: ids, classes, or "Class@x,y,z".

    goals: the subgoals in words, in order; goal_index: of the one that is pursued now (their number: all are done).
    taken: the step that has just ended, None before the first one and where nothing was done since the last
    observation. proposed: what the executor is about to do, None where it has not chosen yet. classes: by reference,
    for those that do not tell it themselves. names: what the executor calls things, by reference, where it has names
    of its own. recent: the last steps, oldest first, `taken` among them; an executor
    leaves it to memory. worded: how the executor reads a call as guidance, "" where it is told nothing; None: as the
    call. beliefs, known: what follows from all of the episode so far, and what long-term memory believes of the next
    step's things, by name; needed: what tries teach to do before a call over names; an executor leaves these to memory.
    """

    goals: tuple[str, ...] = ()
    goal_index: int = 0
    taken: TakenStep | None = None
    proposed: SkillCall | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    recent: tuple[TakenStep, ...] = ()
    worded: Callable[[SkillCall], str] | None = field(default=None, compare=False)
    beliefs: Beliefs = field(default_factory=Beliefs, compare=False, repr=False)
    known: Mapping[str, KnownThing] = field(default_factory=dict, compare=False, repr=False)
    needed: Callable[[SkillCall], Entry | None] = field(default=lambda _call: None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.goal_index <= len(self.goals):
            raise InvalidValueError(f"goal_index: expected 0 to {len(self.goals)}, got {self.goal_index}")

    @property
    def subgoal(self) -> str:
        """The goal that is pursued now, "" where all are done or none is known."""
        return self.goals[self.goal_index] if self.goal_index < len(self.goals) else ""

    @property
    def calls(self) -> list[SkillCall]:
        """The last steps' calls, and the proposed one where it is chosen."""
        return [*(step.call for step in self.recent), *([self.proposed] if self.proposed is not None else [])]

    def class_of(self, name: str) -> str:
        """Return the class of what a reference means."""
        return self.classes.get(name, name.partition("@")[0])


@dataclass(frozen=True)
class KnownThing:
    """What long-term memory believes of one thing. place: a reference to what it is in or on, "" where not known. id,
    place_id: memory's.

    inside: it is in it, and not on it. is_close: the robot may reach it from where it stands. unsaid: returns what
    words leave out of it, see soft_memory.py.
    """

    object_class: str
    place: str = ""
    place_class: str = ""
    inside: bool = False
    states: tuple[ObjectState, ...] = ()
    is_close: bool = False
    unsaid: Callable[[], NDArray[np.float32]] | None = field(default=None, compare=False)
    id: str = ""
    place_id: str = ""


# Returns what long-term memory believes of the thing that a reference means; None: it cannot tell which that is.
LookUp = Callable[[str, str], KnownThing | None]


class Delivery(TextEnum):
    """What is delivered (MemCompiler): guidance, changes of the brief state, both, or nothing."""

    EXPERIENCE = "experience"
    BRIEF = "brief"
    HYBRID = "hybrid"
    NOACTION = "noaction"


@dataclass(frozen=True)
class Guidance:
    """One single-step goal. goal: the call, over names or over the robot's references. text: for an executor that
    reads. reason: the beliefs that call for it, as they stand in the brief state. entries: ids of those that were used.
    avoid: calls that must not be made again now.

    Raises:
        InvalidValueError: it has no text or no reason.
    """

    goal: SkillCall
    text: str
    reason: str
    entries: tuple[str, ...] = ()
    avoid: tuple[SkillCall, ...] = ()

    def __post_init__(self) -> None:
        if not self.text.strip() or not self.reason.strip():
            raise InvalidValueError(f"Guidance {self.goal}: expected a text and a reason")


@dataclass(frozen=True)
class Compiled:
    """The output of one step. lessons: at most a few that hold now, in words, where there is no guidance. tokens_in,
    tokens_out: of the compiler's model. problem: why a model's output could not be used, "" where nothing was wrong.
    latent: the guidance as (N, width) latent tokens for an executor, None without Soft-Mem."""

    guidance: Guidance | None = None
    delta: Delta = ()
    tokens_in: int = 0
    tokens_out: int = 0
    problem: str = ""
    lessons: tuple[str, ...] = ()
    latent: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)

    @property
    def delivery(self) -> Delivery:
        """What it delivers."""
        if self.guidance is not None or self.lessons:
            return Delivery.HYBRID if self.delta else Delivery.EXPERIENCE
        return Delivery.BRIEF if self.delta else Delivery.NOACTION


@dataclass(frozen=True)
class CompiledStep:
    """What an executor gets at one step. compiled: over the robot's references. state: the brief state now.
    milliseconds: that it took."""

    compiled: Compiled
    state: BriefState
    milliseconds: float = 0.0

    @property
    def guidance(self) -> Guidance | None:
        """The guidance, if any."""
        return self.compiled.guidance

    @property
    def lines(self) -> tuple[str, ...]:
        """What an executor that reads is told: the brief state, and the guidance or lessons."""
        guidance = self.guidance
        told = (guidance.text,) if guidance is not None else tuple(f"Lesson: {text}" for text in self.compiled.lessons)
        return (*self.state.lines(), *told)


class Compiler(Protocol):
    """pi_C((o_t, b_t), M)."""

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Return what to deliver. observation: its calls are over names, those that the brief state uses.

        Never raises for what a model says: that is NOACTION, with the problem.
        """


class GuidancePort(Protocol):
    """What an executor asks at each step of an episode."""

    def compile(self, episode_id: str, observation: StepObservation) -> CompiledStep | None:
        """Return guidance and brief state; None: there is no compiler, or the episode is not running."""


def said(goal: SkillCall, because: str, avoid: Sequence[SkillCall] = ()) -> str:
    """Return guidance in words."""
    never = f"Do not {', '.join(map(str, avoid))} again. " if avoid else ""
    return f"{never}Next: {goal}, because {because}."
