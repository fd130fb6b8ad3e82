"""What a compiler delivers at one step, and what every compiler is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.context.brief_state import BriefState
from memory_node.context.state_operations import Delta
from memory_node.context.step_observation import StepObservation
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall
from memory_node.domain.text_enum import TextEnum


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
