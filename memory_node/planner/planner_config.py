"""The parameters of the planners."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Parameters
from memory_node.llm.config import ModelConfig

PlannerName = Literal["offline", "llm"]
PLANNERS: tuple[str, ...] = get_args(PlannerName)


class OfflineConfig(Parameters):
    """Of the offline planner."""

    max_failures: int = Field(
        default=10, ge=1, le=100, description="skills that may fail within one goal before it is given up"
    )


class LlmConfig(ModelConfig):
    """Of the language model planner."""

    context_tokens: int = Field(default=2000, ge=0, le=100_000, description="tokens of memory in the prompt at most")
    max_repairs: int = Field(
        default=3,
        ge=0,
        le=20,
        description="corrections asked of a reply that is no valid plan, at most",
    )
    max_replans: int = Field(default=4, ge=0, le=50, description="new plans after a failed skill, at most")
    max_steps: int = Field(default=80, ge=1, le=1000, description="skills of one instruction at most")
    usd_per_million_in: float = Field(
        default=2.5, ge=0.0, le=1e6, description="price of tokens sent (USD per million), for the account only"
    )
    usd_per_million_out: float = Field(
        default=10.0, ge=0.0, le=1e6, description="price of tokens received (USD per million)"
    )


class PlannerConfig(Parameters):
    """Of both planners."""

    offline: OfflineConfig = OfflineConfig()
    llm: LlmConfig = LlmConfig()
