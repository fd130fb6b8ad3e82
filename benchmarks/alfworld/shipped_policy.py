"""The weights that come with a checkout: those of the executor policy."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from memory_node.llm.config import ModelConfig

ADAPTER = Path(__file__).parent / "weights" / "executor.gguf"

Config = TypeVar("Config", bound=ModelConfig)


def takes_shipped_weights(config: ModelConfig) -> bool:
    """Return whether a configuration asks for the embedded model and names no adapter."""
    return not (config.base_url or config.model_path or config.adapter_path)


def with_shipped_adapter(config: Config) -> Config:
    """Return a configuration with the shipped executor, where it takes shipped weights."""
    return config.changed(adapter_path=str(ADAPTER)) if takes_shipped_weights(config) else config
