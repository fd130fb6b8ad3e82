"""The adapter of the executor policy that comes with a checkout; its card lies beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from memory_node.llm.config import ModelConfig

ADAPTER = Path(__file__).parent / "weights" / "executor.gguf"

Config = TypeVar("Config", bound=ModelConfig)


def with_shipped_adapter(config: Config) -> Config:
    """Return a configuration with the shipped adapter, where it asks for the embedded model and names no adapter."""
    own = config.base_url or config.model_path or config.adapter_path
    return config if own else config.changed(adapter_path=str(ADAPTER))
