"""The parameters of experience; defaults are BrainMem's where it names one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_node.domain.chat_model import ChatConfig
from memory_node.domain.config_file import read_config
from memory_node.domain.errors import InvalidValueError

PARTS = frozenset({"working", "episodic", "semantic"})
EXTRACTORS = ("rules", "llm")


@dataclass(frozen=True)
class ExperienceConfig:
    """How experience is kept and shown.

    window: steps in working memory (5, the peak of BrainMem's ablation). active_guidelines: M, at most so many in a
    prompt. prune_factor: guidelines beyond prune_factor * M are pruned by utility. protected_*: never pruned at or
    above both. half_life_s: of a guideline's utility since it last helped. top_k: experiences in an answer.
    max_attempts: how often one task is tried, the first time counted in. max_guidelines and graph_steps: what is kept
    in memory at most; beyond it the least useful guidelines and the oldest episodes go (the store keeps their steps).
    supports_kept: so many of its newest episodes a guideline names. parts: which memories answer.
    extractor: "rules", or "llm": a language model adds to what the rules learn, by the llm_* parameters.
    llm_queue: with more ended episodes waiting for it, the rules' lesson stands.
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
    max_guidelines: int = 10_000
    graph_steps: int = 1_000_000
    supports_kept: int = 64
    parts: frozenset[str] = PARTS
    extractor: str = "rules"
    llm_base_url: str = ""
    llm_model: str = "gpt-4o"
    llm_api_key_variable: str = "OPENAI_API_KEY"
    llm_deadline_s: float = 60.0
    llm_reply_tokens: int = 1500
    llm_max_repairs: int = 2
    llm_queue: int = 8

    def __post_init__(self) -> None:
        positive = ("window", "active_guidelines", "usage_full", "top_k", "max_attempts")
        for name in (*positive, "max_guidelines", "graph_steps", "supports_kept", "llm_queue"):
            if getattr(self, name) < 1:
                raise InvalidValueError(f"ExperienceConfig.{name}: expected at least 1, got {getattr(self, name)}")
        if self.half_life_s <= 0.0 or self.prune_factor < 1.0:
            raise InvalidValueError(f"ExperienceConfig: expected half_life_s > 0 and prune_factor >= 1, got {self}")
        if self.extractor not in EXTRACTORS:
            raise InvalidValueError(f"extractor: expected one of {', '.join(EXTRACTORS)}, got {self.extractor!r}")
        if not 0 <= self.llm_max_repairs <= 20:
            raise InvalidValueError(f"llm_max_repairs: expected 0 to 20, got {self.llm_max_repairs}")
        if not self.parts <= PARTS:
            raise InvalidValueError(f"ExperienceConfig.parts: expected some of {sorted(PARTS)}, got {self.parts}")
        self.chat_config()  # refuses what no model can be asked with

    def chat_config(self) -> ChatConfig:
        """Return which language model reads ended episodes, and how it is asked."""
        return ChatConfig(
            base_url=self.llm_base_url,
            model=self.llm_model,
            api_key_variable=self.llm_api_key_variable,
            max_reply_tokens=self.llm_reply_tokens,
            timeout_s=self.llm_deadline_s,
        )

    @classmethod
    def load(cls, path: Path | None = None) -> ExperienceConfig:
        """Read a YAML file, by default config/experience.yaml."""
        return read_config(cls, "config/experience.yaml", path)
