"""Rollouts: a compiler that draws what it says, an executor that follows or not, and what the compiler decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking.choosing import StepChooser
from memory_node.context.config import CompilerModelConfig
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.llm.chat import Deadline, GrammarForm, JsonForm, LatentModel, Message, Reply, ReplyForm, ignore
from memory_node.llm.gbnf import json_grammar
from training.adapters.writing import Sampling, Writer, Written
from training.robot_tasks import RobotTasks
from training.softmem.soft_memory import GaussianWeights

Array = NDArray[np.float32]
# A step of a model on whatever machine; rollouts are not for robots.
STEP_S = 600.0


@dataclass(frozen=True)
class Decision:
    """What was drawn at one step. wording: of the reply, in N tokens. soft: the latent tokens (N, embedding), None
    where nothing was delivered, unsaid: what they were made of besides."""

    written: Written
    wording: tuple[int, ...] = ()
    soft: Array | None = None
    unsaid: tuple[float, ...] = ()


@dataclass(frozen=True)
class Rollout:
    """One task: what was decided, and how much came out right, 0 to 1; of a game 1 where it was won."""

    decisions: tuple[Decision, ...]
    reward: float


@dataclass
class Decisions:
    """What a compiler decided in a game so far."""

    made: list[Decision] = field(default_factory=list)

    def add(self, decision: Decision) -> None:
        """Note what was said."""
        self.made.append(decision)

    def word(self, wording: Sequence[int]) -> Decision:
        """Note the wording of what was said last, and return all of it."""
        self.made[-1] = replace(self.made[-1], wording=tuple(wording))
        return self.made[-1]

    def add_soft(self, soft: Array, unsaid: Array) -> None:
        """Note the latent tokens of what was said last."""
        self.made[-1] = replace(self.made[-1], soft=soft, unsaid=tuple(map(float, unsaid)))


@dataclass(frozen=True)
class DrawnSoftMemory(GaussianWeights):
    """A soft memory whose latent tokens are drawn: mu + sigma * eps. random: draws eps, None takes mu alone."""

    random: np.random.Generator | None = None
    on_drawn: Callable[[Array, Array], object] = lambda *_: None

    def __call__(self, states: Array, unsaid: Array) -> Array:
        """Return latent tokens; see SoftMemoryWeights."""
        drawn, log_sd = super().__call__(states, unsaid), self.spread(states, unsaid)
        if self.random is not None:
            drawn = (drawn + np.exp(log_sd) * self.random.standard_normal(drawn.shape)).astype(np.float32)
        self.on_drawn(drawn, unsaid)
        return drawn

    @classmethod
    def of(
        cls, weights: GaussianWeights, random: np.random.Generator | None, on_drawn: Callable[[Array, Array], object]
    ) -> DrawnSoftMemory:
        """Return a soft memory that draws."""
        return cls(**vars(weights), random=random, on_drawn=on_drawn)


class Models(Protocol):
    """Compiler and executor as they play. Each call begins a game of its own."""

    def compiler(self, temperature: float, seed: int, decisions: Decisions) -> LatentModel:
        """Return the compiler's model; it notes what it decides. temperature 0: the likeliest tokens."""

    def executor(self) -> StepChooser:
        """Return what chooses the commands."""

    @property
    def soft(self) -> GaussianWeights:
        """The soft memory as it is now."""

    def renew(self) -> None:
        """Play with the weights that the models have now."""

    @property
    def writer(self) -> Writer:
        """What writes the compiler's replies."""


def drawing_compiler(
    models: Models, config: CompilerModelConfig, temperature: float, seed: int, decisions: Decisions
) -> PromptCompiler:
    """Return the compiler of one rollout; it notes what it draws."""
    random = np.random.default_rng(seed) if temperature else None
    own = models.soft
    soft = DrawnSoftMemory.of(own, random, decisions.add_soft) if len(own.placeholders) else None
    return PromptCompiler(models.compiler(temperature, seed, decisions), config, soft=soft)


@dataclass(frozen=True)
class RobotRollouts:
    """A `Play` over tasks of a robot: the compiler that learns advises the frozen offline planner."""

    models: Models
    tasks: RobotTasks
    config: CompilerModelConfig
    temperature: float = 1.2

    def __call__(self, task: int, number: int, seed: int) -> Rollout:
        """Carry out one task with replies that are drawn."""
        decisions = Decisions()
        reward = self._play(task, self.temperature, seed, decisions)
        return Rollout(tuple(decisions.made), reward)

    def greedy(self, task: int) -> Greedy:
        """Carry out one task with the likeliest replies."""
        return Greedy(self._play(task, 0.0, 0, Decisions()))

    def _play(self, task: int, temperature: float, seed: int, decisions: Decisions) -> float:
        return self.tasks.play(task, drawing_compiler(self.models, self.config, temperature, seed, decisions)).right


@dataclass(frozen=True)
class Greedy:
    """A task that was carried out with the likeliest replies. right: how much of it was, 0 to 1."""

    right: float

    @property
    def won(self) -> bool:
        """Whether all of it was right."""
        return self.right == 1.0


# Returns the last-layer states (N, width) of vectors behind a decision, whose reply is put in N tokens of the wording.
StatesOf = Callable[[Decisions, str, NDArray[np.float32]], NDArray[np.float32]]


@dataclass
class NotingCompiler:
    """A LatentModel. count: tokens of a text. random: draws the replies."""

    writer: Writer
    states_of: StatesOf
    count: Callable[[str], int]
    temperature: float
    random: np.random.Generator
    decisions: Decisions
    name: str = "in training"

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Write a reply; where its form is not kept, what cannot be used of it delivers nothing. See ChatModel."""
        grammar = form.grammar if isinstance(form, GrammarForm) else ""
        grammar = json_grammar(form.schema) if isinstance(form, JsonForm) else grammar
        (written,) = self.writer.write(messages, 1, Sampling(self.temperature, self.random, grammar))
        self.decisions.add(Decision(written))
        return Reply(written.text, len(written.prompt), len(written.tokens), whole=written.whole)

    def states(
        self,
        messages: Sequence[Message],
        reply: str,
        wording: str,
        vectors: NDArray[np.float32],
        deadline: Deadline | None = None,
    ) -> NDArray[np.float32]:
        """Return the states of the placeholders behind the last reply. See LatentModel."""
        return self.states_of(self.decisions, wording, vectors)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return self.count(text)
