"""The weights that come with a checkout: of executor policy and compiler."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from memory_node.context.config import CompilerModelConfig
from memory_node.llm.config import ModelConfig

_WEIGHTS = Path(__file__).parent / "weights"
ADAPTER = _WEIGHTS / "executor.gguf"
COMPILER = _WEIGHTS / "compiler.gguf"

Config = TypeVar("Config", bound=ModelConfig)


def takes_shipped_weights(config: ModelConfig) -> bool:
    """Return whether a configuration asks for the embedded model and names no adapter."""
    return not (config.base_url or config.model_path or config.adapter_path)


def with_shipped_adapter(config: Config) -> Config:
    """Return a configuration with the shipped executor, where it takes shipped weights."""
    return _with_adapter(config, ADAPTER)


def with_shipped_compiler(config: CompilerModelConfig) -> CompilerModelConfig:
    """Return a configuration with the shipped compiler, where it takes shipped weights."""
    return _with_adapter(config, COMPILER)


def _with_adapter(config: Config, adapter: Path) -> Config:
    return config.changed(adapter_path=str(adapter)) if takes_shipped_weights(config) else config
