"""The parameters of experience; defaults are BrainMem's where it names one."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class ExperienceConfig:
    """How experience is kept and shown.

    window: steps in working memory (5, the peak of BrainMem's ablation). active_guidelines: M, at most so many in a
    prompt. prune_factor: guidelines beyond prune_factor * M are pruned by utility. protected_*: never pruned at or
    above both. half_life_s: of a guideline's utility since it last helped. top_k: experiences in an answer.
    max_attempts: how often one task is tried, the first time counted in.
    """

    window: int = 5
    active_guidelines: int = 20
    prune_factor: float = 1.5
    protected_confidence: float = 0.8
    protected_successes: int = 5
    confidence_weight: float = 0.7
    usage_weight: float = 0.3
    usage_full: int = 10
    half_life_s: float = 30.0 * 86400.0
    top_k: int = 2
    max_attempts: int = 3

    def __post_init__(self) -> None:
        for name in ("window", "active_guidelines", "usage_full", "top_k", "max_attempts"):
            if getattr(self, name) < 1:
                raise InvalidValueError(f"ExperienceConfig.{name}: expected at least 1, got {getattr(self, name)}")
        if self.half_life_s <= 0.0 or self.prune_factor < 1.0:
            raise InvalidValueError(f"ExperienceConfig: expected half_life_s > 0 and prune_factor >= 1, got {self}")
