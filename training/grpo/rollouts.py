"""Rollouts: a compiler that draws what it says, an executor that follows or not, and what the compiler decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking.choosing import StepChooser
from memory_node.context.soft_memory import SoftMemoryWeights
from memory_node.llm.chat import LatentModel
from training.adapters.writing import Writer, Written

Array = NDArray[np.float32]


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
    """One game: what was decided, and 1 where it was won."""

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
class DrawnSoftMemory(SoftMemoryWeights):
    """A soft memory whose latent tokens are drawn: mu + sigma * eps. random: draws eps, None takes mu alone."""

    random: np.random.Generator | None = None
    on_drawn: Callable[[Array, Array], object] = lambda *_: None

    def __call__(self, states: Array, unsaid: Array) -> tuple[Array, Array | None]:
        """Return latent tokens and log sigma; see SoftMemoryWeights."""
        mean, log_sd = super().__call__(states, unsaid)
        drawn = mean
        if self.random is not None and log_sd is not None:
            drawn = (mean + np.exp(log_sd) * self.random.standard_normal(mean.shape)).astype(np.float32)
        self.on_drawn(drawn, unsaid)
        return drawn, log_sd

    @classmethod
    def of(
        cls, weights: SoftMemoryWeights, random: np.random.Generator | None, on_drawn: Callable[[Array, Array], object]
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
    def soft(self) -> SoftMemoryWeights:
        """The soft memory as it is now."""

    def renew(self) -> None:
        """Play with the weights that the models have now."""

    @property
    def writer(self) -> Writer:
        """What writes the compiler's replies."""
