"""The parameters of the optimizer of memory."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Parameters, Profile
from memory_node.lessons.bank import BankLimits
from memory_node.llm.config import SHARED, ModelConfig

OptimizerKind = Literal["none", "rules", "model"]
OPTIMIZERS: tuple[OptimizerKind, ...] = get_args(OptimizerKind)


class OptimizerModelConfig(ModelConfig):
    """The language model that decides what an attempt leaves in memory."""

    max_reply_tokens: Expert[int] = Field(default=400, ge=1, le=32_000, description="tokens of one reply at most")
    timeout_s: Expert[float] = Field(
        default=120.0,
        ge=0.1,
        le=3600.0,
        description="time for one attempt, corrections and all; nothing waits for it",
    )
    max_repairs: Expert[int] = Field(default=1, ge=0, le=20, description="corrections asked of a faulty reply")
    most_waiting: Expert[int] = Field(
        default=8, ge=1, le=10_000, description="with more ended episodes waiting for it, the next leaves nothing"
    )


class OptimizerConfig(Parameters):
    """What attempts leave in memory, and who decides it; docs/optimizer.md explains it."""

    kind: OptimizerKind = Field(
        default="rules",
        description="who decides what an ended episode leaves in memory; model: the language model `llm.optimizer`",
    )
    capacity: Expert[int] = Field(default=300, ge=1, le=100_000, description="entries of the bank at most")
    shown: Expert[int] = Field(default=3, ge=1, le=100, description="entries that a task retrieves (UMEM's K)")
    related: Expert[float] = Field(
        default=0.5,
        ge=-1.0,
        le=1.0,
        description="least cosine of two task texts that count as related",
    )
    same: Expert[float] = Field(
        default=0.8, ge=-1.0, le=1.0, description="from this cosine on, an addition to a full bank becomes an update"
    )
    least_trials: Expert[int] = Field(
        default=6,
        ge=1,
        le=1_000_000,
        description="tasks that an entry must have been shown for before it may be withdrawn",
    )
    least_utility: Expert[float] = Field(
        default=-0.15, ge=-1.0, le=1.0, description="an entry of a lower utility is withdrawn, see least_trials"
    )
    llm: Annotated[OptimizerModelConfig, Profile("llm.optimizer", SHARED)] = OptimizerModelConfig()

    @property
    def limits(self) -> BankLimits:
        """What the bank may hold and show."""
        return BankLimits(self.capacity, self.shown, self.related, self.same, self.least_trials, self.least_utility)
