"""What decides how a language model replies: a kept reply or game holds only as long as this is the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.native import WHEEL_RELEASE
from memory_node.llm.open_model import model_file


def mark_of(model: ModelConfig) -> str:
    """Return what decides a model's choices: its files by their contents, its window, and llama.cpp's release; of an
    endpoint its address and the model's name.

    Raises:
        ModelMissingError: there is no such file.
    """
    if not model.in_process:
        return f"{model.base_url} {model.model}"
    files = [model_file(model), *([Path(model.adapter_path)] if model.adapter_path else [])]
    marks = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    return " ".join((*marks, str(model.window_tokens), WHEEL_RELEASE))
