"""The model that a training begins with: a GGUF file, as the robot runs it, or a folder of Hugging Face's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.engine import LlamaEngine
from memory_node.llm.open_model import model_file
from training.adapters.adapter import gguf_model, with_adapter
from training.adapters.hugging_face import folder_model, folder_tokens
from training.adapters.llama_writer import LlamaWriter
from training.adapters.model_tokens import ModelTokens
from training.adapters.processes import device
from training.adapters.writing import TorchWriter, Writer

_WINDOW_TOKENS = 4096


@dataclass(frozen=True)
class BaseModel:
    """A model that adapters are trained for. load: reads its weights. config: of llama.cpp, which runs it in the
    robot's process; None for a model that it cannot run."""

    tokens: ModelTokens
    load: Callable[[], Any]
    config: ModelConfig | None

    @property
    def suffix(self) -> str:
        """What the name of an adapter ends with: a GGUF file, or a folder in PEFT's format. See save_adapter."""
        return "" if self.config is None else ".gguf"

    def adapted(self, rank: int) -> Any:
        """Return the model, frozen, with an untrained adapter of a rank.

        Raises:
            ValueError: it is no model that can be trained.
        """
        with torch.device("cpu"):  # the same weights and draws wherever it computes
            return with_adapter(self.load(), rank).to(device())

    def adapter_path(self, folder: Path, name: str) -> Path:
        """Return where an adapter goes."""
        return folder / f"{name}{self.suffix}"

    def writer(self, model: Any, most_tokens: int) -> Writer:
        """Return what writes as this model with an adapter does. most_tokens: of a reply."""
        if self.config is None:
            return TorchWriter(model, self.tokens, most_tokens)
        return LlamaWriter(model, self.config.changed(max_reply_tokens=most_tokens))


def open_base(path: str, threads: int) -> BaseModel:
    """Open a GGUF file, a folder of Hugging Face's, or the embedded model for "".

    Raises:
        ModelMissingError, ValueError: it cannot be read.
    """
    if path and Path(path).is_dir():
        folder = Path(path)
        return BaseModel(folder_tokens(folder), partial(folder_model, folder), None)
    config = ModelConfig(backend="llama", model_path=path, threads=threads)
    file = model_file(config)
    engine = LlamaEngine(file, _WINDOW_TOKENS, config.thread_count)
    return BaseModel(ModelTokens(engine.template, engine.native.vocabulary), partial(gguf_model, file), config)
