"""The parameters of the planners, and what a language model took by its prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from memory_node.domain.parameters import Expert, Parameters, parameter
from memory_node.domain.step import ModelCost
from memory_node.llm.chat import Reply
from memory_node.llm.config import ModelConfig
from memory_node.planner.planner import PlanOutcome

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


@dataclass
class ModelAccount:
    """replies: what the model was asked for and gave; valid: those that were taken over as they came.

    replans: new plans, or new calls in place of an end, after a failed skill or an unmet goal. first_token_s: of the
    first reply, see Reply. tokens_cached: of tokens_in, those that the endpoint had read before. seconds: that
    the model took, where its run measures them.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    replies: int = 0
    valid: int = 0
    replans: int = 0
    first_token_s: float = 0.0
    seconds: float = 0.0

    def charge(self, reply: Reply) -> None:
        """Note a reply, whether it can be used or not."""
        if not self.replies:
            self.first_token_s = reply.first_token_s
        self.replies += 1
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out
        self.tokens_cached += reply.tokens_cached

    def cost_usd(self, config: PricedModelConfig) -> float:
        """Return what it cost so far; a model in this process costs nothing."""
        cost = self.tokens_in * config.usd_per_million_in + self.tokens_out * config.usd_per_million_out
        return 0.0 if config.in_process else cost / 1e6

    def booked(self, outcome: PlanOutcome, config: PricedModelConfig) -> PlanOutcome:
        """Return the outcome with what this took added to what it tells already."""
        usd = round(self.cost_usd(config), 6)
        cost = ModelCost(self.tokens_in, self.tokens_cached, self.tokens_out, self.replies, self.seconds, usd)
        return replace(
            outcome,
            cost=outcome.cost + cost,
            valid_replies=outcome.valid_replies + self.valid,
            replans=outcome.replans + self.replans,
            first_token_s=outcome.first_token_s or self.first_token_s,
        )
