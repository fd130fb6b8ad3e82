"""The parameters of the optimizer of memory."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Profile
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


class OptimizerConfig(BankLimits):
    """What attempts leave in memory, and who decides it; docs/optimizer.md explains it."""

    kind: OptimizerKind = Field(
        default="rules",
        description="who decides what an ended episode leaves in memory; model: the language model `llm.optimizer`",
    )
    llm: Annotated[OptimizerModelConfig, Profile("llm.optimizer", SHARED)] = OptimizerModelConfig()
