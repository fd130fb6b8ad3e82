"""The parameters of the optimizer of memory."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from memory_node.domain.parameters import Expert, Profile, parameter
from memory_node.lessons.bank import BankLimits
from memory_node.llm.config import SHARED, ModelConfig

OptimizerKind = Literal["none", "rules", "model"]
OPTIMIZERS: tuple[OptimizerKind, ...] = get_args(OptimizerKind)


class OptimizerModelConfig(ModelConfig):
    """The language model that decides what an attempt leaves in memory."""

    max_reply_tokens: Expert[int] = parameter(400, "tokens of one reply at most", 1, 32_000)
    timeout_s: Expert[float] = parameter(
        120.0, "time for one attempt, corrections and all; nothing waits for it", 0.1, 3600.0
    )
    max_repairs: Expert[int] = parameter(1, "corrections asked of a faulty reply", 0, 20)
    most_waiting: Expert[int] = parameter(
        8, "with more ended episodes waiting for it, the next leaves nothing", 1, 10_000
    )


class OptimizerConfig(BankLimits):
    """What attempts leave in memory, and who decides it; docs/optimizer.md explains it."""

    kind: OptimizerKind = parameter(
        "rules", "who decides what an ended episode leaves in memory; model: the language model `llm.optimizer`"
    )
    llm: Annotated[OptimizerModelConfig, Profile("llm.optimizer", SHARED)] = OptimizerModelConfig()
