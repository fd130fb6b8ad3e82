"""The parameters of the planners."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from memory_node.domain.parameters import Expert, Parameters
from memory_node.llm.config import ModelConfig

PlannerName = Literal["offline", "llm"]
PLANNERS: tuple[str, ...] = get_args(PlannerName)


class OfflineConfig(Parameters):
    """Of the offline planner."""

    max_failures: Expert[int] = Field(
        default=10, ge=1, le=100, description="skills that may fail within one goal before it is given up"
    )


class PricedModelConfig(ModelConfig):
    """A language model, and what its tokens cost."""

    usd_per_million_in: float = Field(
        default=2.5, ge=0.0, le=1e6, description="price of tokens sent (USD per million), for the account only"
    )
    usd_per_million_out: float = Field(
        default=10.0, ge=0.0, le=1e6, description="price of tokens received (USD per million)"
    )


class LlmConfig(PricedModelConfig):
    """Of the language model planner."""

    mode: Literal["agent", "plan"] = Field(
        default="agent",
        description="agent: the model reads the instruction, calls skills and memory, and says when it is done;"
        " plan: it says goals and all calls at once, and is asked again only where that fails",
    )
    sees: Expert[bool] = Field(
        default=False,
        description="the model takes pictures: `look_at` shows it the robot's camera (`verifier.image_topic`)",
    )
    context_tokens: Expert[int] = Field(
        default=2000,
        ge=0,
        le=100_000,
        description="tokens of memory in the prompt at most; in this process at most a quarter of the window",
    )
    max_repairs: Expert[int] = Field(
        default=3,
        ge=0,
        le=20,
        description="corrections asked of a reply that is no valid plan, at most",
    )
    max_replans: Expert[int] = Field(
        default=4, ge=0, le=50, description="plan: new plans after a failed skill or an unmet goal, at most"
    )
    max_steps: int = Field(default=80, ge=1, le=1000, description="skills of one instruction at most")

    max_tokens_per_instruction: int = Field(
        default=200_000,
        ge=1000,
        le=100_000_000,
        description="tokens sent and received in one instruction at most; it ends with what was reached then",
    )
    max_usd_per_instruction: float = Field(
        default=0.0, ge=0.0, le=1e6, description="cost of one instruction (USD) at most; 0: any"
    )
    max_model_s_per_instruction: float = Field(
        default=900.0,
        ge=1.0,
        le=86_400.0,
        description="time (s) that the model takes in one instruction at most",
    )
    max_idle_replies: Expert[int] = Field(
        default=4,
        ge=1,
        le=50,
        description="replies in a row that neither move the robot nor learn anything, at most",
    )

    @property
    def context_budget(self) -> int:
        """Tokens of memory in the prompt: a small window must hold the steps of a long task, too."""
        return min(self.context_tokens, self.window_tokens // 4) if self.in_process else self.context_tokens


class PlannerConfig(Parameters):
    """Of both planners."""

    offline: OfflineConfig = OfflineConfig()
    llm: LlmConfig = LlmConfig()
