"""The ranking's parameters, read once from config/retrieval.yaml and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_node.domain.config_file import read_config
from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class RetrievalConfig:
    """See config/retrieval.yaml for what each means."""

    embedder: str = "minilm"
    precision: str = "fp32"
    openai_base_url: str = ""
    openai_model: str = ""
    clip_path: str = ""
    dense_weight: float = 1.0
    lexical_weight: float = 1.0
    class_weight: float = 4.0
    recency_weight: float = 0.05
    nearness_weight: float = 0.10
    likeness_weight: float = 0.10
    state_penalty: float = 0.9
    unknown_state_penalty: float = 0.4
    place_penalty: float = 0.3
    recency_half_life_s: float = 600.0
    nearness_scale_m: float = 3.0
    cosine_center: float = 0.56
    cosine_slope: float = 16.0
    rivalry_slope: float = 12.0
    picture_weight: float = 2.0
    picture_center: float = 0.25
    picture_slope: float = 40.0
    abstain_below: float = 0.45
    rival_share: float = 0.7
    exact_below: int = 12_000

    def __post_init__(self) -> None:
        if self.embedder not in ("minilm", "openai"):
            raise InvalidValueError(f"embedder: expected minilm or openai, got {self.embedder!r}")
        for name in ("dense_weight", "lexical_weight", "class_weight", "rivalry_slope", "picture_weight"):
            if getattr(self, name) < 0.0:
                raise InvalidValueError(f"{name}: expected 0 or more, got {getattr(self, name)}")
        shares = (
            "recency_weight",
            "nearness_weight",
            "likeness_weight",
            "state_penalty",
            "unknown_state_penalty",
            "place_penalty",
        )
        for name in (*shares, "abstain_below", "rival_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InvalidValueError(f"{name}: expected 0 to 1, got {getattr(self, name)}")
        for name in ("recency_half_life_s", "nearness_scale_m", "cosine_slope"):
            if getattr(self, name) <= 0.0:
                raise InvalidValueError(f"{name}: expected more than 0, got {getattr(self, name)}")

    @classmethod
    def load(cls, path: Path | None = None) -> RetrievalConfig:
        """Return the config of a YAML file (default: the shipped one)."""
        return read_config(cls, "config/retrieval.yaml", path)
