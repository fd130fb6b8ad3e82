"""What a language model's part in one instruction took, and how much of what it said could be used."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memory_node.domain.step import ModelCost
from memory_node.llm.chat import Reply
from memory_node.planner.planner import PlanOutcome
from memory_node.planner.planner_config import PricedModelConfig


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
