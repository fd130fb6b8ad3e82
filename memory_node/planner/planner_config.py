"""The planner's parameters: config/planner.yaml, read once into a validated value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from memory_node.domain.chat_model import ChatConfig
from memory_node.domain.config_file import read_section
from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class OfflineConfig:
    """Of the offline planner; the keys are explained in config/planner.yaml."""

    max_failures: int = 10

    def __post_init__(self) -> None:
        _check_range(self, "max_failures", 1, 100)


@dataclass(frozen=True)
class LlmConfig(ChatConfig):
    """Of the language model planner; the keys are explained in config/planner.yaml."""

    context_tokens: int = 2000
    max_repairs: int = 3
    max_replans: int = 4
    max_steps: int = 80
    usd_per_million_in: float = 2.5
    usd_per_million_out: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, low, high in (
            ("context_tokens", 0, 100_000),
            ("max_repairs", 0, 20),
            ("max_replans", 0, 50),
            ("max_steps", 1, 1000),
            ("usd_per_million_in", 0, 1e6),
            ("usd_per_million_out", 0, 1e6),
        ):
            _check_range(self, name, low, high)


@dataclass(frozen=True)
class PlannerConfig:
    """Both planners' parameters."""

    offline: OfflineConfig = field(default_factory=OfflineConfig)
    llm: LlmConfig = field(default_factory=LlmConfig)

    @classmethod
    def load(cls, path: Path | None = None) -> PlannerConfig:
        """Read a YAML file, by default config/planner.yaml.

        Raises:
            InvalidValueError: an unknown key, or a value out of its range.
        """
        kinds = {"offline": OfflineConfig, "llm": LlmConfig}
        return cls(*(read_section(kinds, section, "config/planner.yaml", path) for section in kinds))


def _check_range(config: object, name: str, low: float, high: float) -> None:
    value = getattr(config, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidValueError(f"planner.{name}: expected a number from {low:g} to {high:g}, got {value!r}")
