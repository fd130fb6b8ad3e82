"""The parameters of the planners."""

from __future__ import annotations

from typing import Literal, get_args

from memory_node.domain.parameters import Expert, Parameters, parameter
from memory_node.llm.config import ModelConfig

PlannerName = Literal["offline", "llm"]
PLANNERS: tuple[str, ...] = get_args(PlannerName)


class OfflineConfig(Parameters):
    """Of the offline planner."""

    max_failures: Expert[int] = parameter(10, "skills that may fail within one goal before it is given up", 1, 100)


class PricedModelConfig(ModelConfig):
    """A language model, and what its tokens cost."""

    usd_per_million_in: float = parameter(2.5, "price of tokens sent (USD per million), for the account only", 0.0, 1e6)
    usd_per_million_out: float = parameter(10.0, "price of tokens received (USD per million)", 0.0, 1e6)


class LlmConfig(PricedModelConfig):
    """Of the language model planner."""

    mode: Literal["agent", "plan"] = parameter(
        "agent",
        "agent: the model reads the instruction, calls skills and memory, and says when it is done; plan: it says "
        "goals and all calls at once, and is asked again only where that fails",
    )
    sees: Expert[bool] = parameter(
        False, "the model takes pictures: `look_at` shows it the robot's camera (`verifier.image_topic`)"
    )
    context_tokens: Expert[int] = parameter(
        2000, "tokens of memory in the prompt at most; in this process at most a quarter of the window", 0, 100_000
    )
    max_repairs: Expert[int] = parameter(3, "corrections asked of a reply that is no valid plan, at most", 0, 20)
    max_replans: Expert[int] = parameter(4, "plan: new plans after a failed skill or an unmet goal, at most", 0, 50)
    max_steps: int = parameter(80, "skills of one instruction at most", 1, 1000)

    max_tokens_per_instruction: int = parameter(
        200_000,
        "tokens sent and received in one instruction at most; it ends with what was reached then",
        1000,
        100_000_000,
    )
    max_usd_per_instruction: float = parameter(0.0, "cost of one instruction (USD) at most; 0: any", 0.0, 1e6)
    max_model_s_per_instruction: float = parameter(
        900.0, "time (s) that the model takes in one instruction at most", 1.0, 86_400.0
    )
    max_idle_replies: Expert[int] = parameter(
        4, "replies in a row that neither move the robot nor learn anything, at most", 1, 50
    )

    @property
    def context_budget(self) -> int:
        """Tokens of memory in the prompt: a small window must hold the steps of a long task, too."""
        return min(self.context_tokens, self.window_tokens // 4) if self.in_process else self.context_tokens


class PlannerConfig(Parameters):
    """Of both planners."""

    offline: OfflineConfig = OfflineConfig()
    llm: LlmConfig = LlmConfig()
