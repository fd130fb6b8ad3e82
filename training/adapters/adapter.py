"""A language model with a LoRA adapter (Hu et al. 2021, arXiv:2106.09685) to train, and that adapter's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from training.adapters.checkpoint import free_weights, load_weights
from training.adapters.export import TARGETS, read_adapter, write_adapter
from training.adapters.processes import device

_ALPHA_OF_RANK = 2


def adapted_model(gguf_file: Path, rank: int) -> Any:
    """Return the model of a GGUF file, its weights dequantised and frozen, with an untrained adapter of a rank."""
    with torch.device("cpu"):  # the same weights and draws wherever it computes
        model = AutoModelForCausalLM.from_pretrained(
            str(gguf_file.parent), gguf_file=gguf_file.name, dtype=torch.float32, local_files_only=True
        )
        return with_adapter(model, rank).to(device())


def with_adapter(model: Any, rank: int) -> Any:
    """Return a causal model with an untrained adapter; the model's own weights are frozen."""
    config = LoraConfig(r=rank, lora_alpha=_ALPHA_OF_RANK * rank, target_modules=list(TARGETS), task_type="CAUSAL_LM")
    return get_peft_model(model, config)


def load_adapter(model: Any, path: Path) -> None:
    """Give a model's adapter what a run has learnt: its checkpoint, or the GGUF file that came of it.

    Raises:
        ValueError: the file is of a model with other weights.
    """
    if path.suffix != ".gguf":
        load_weights(model, path)
        return
    weights = read_adapter(path, model.config.num_attention_heads)
    free = {_short_name(name): weight for name, weight in free_weights(model).items()}
    if {name: values.shape for name, values in weights.items()} != {n: tuple(w.shape) for n, w in free.items()}:
        raise ValueError(f"{path} is of a model with other free weights; is --rank the same?")
    with torch.no_grad():
        for name, weight in free.items():
            weight.copy_(torch.from_numpy(weights[name]))


def with_loaded_adapter(model: Any, path: Path) -> Any:
    """Return a causal model with the adapter of a GGUF file, whatever its rank.

    Raises:
        ValueError: the file is of a model with other weights.
    """
    weights = read_adapter(path, model.config.num_attention_heads)
    rank = next((len(values) for name, values in weights.items() if name.endswith("lora_A")), 1)
    adapted = with_adapter(model, rank)
    load_adapter(adapted, path)
    return adapted


def save_adapter(model: Any, path: Path) -> None:
    """Write the adapter of a model as GGUF."""
    weights = {_short_name(name): weight.detach().cpu().numpy() for name, weight in free_weights(model).items()}
    alpha = float(model.peft_config["default"].lora_alpha)
    write_adapter(weights, model.config.num_attention_heads, alpha, path)


def _short_name(name: str) -> str:
    """Return "layers.0.mlp.up_proj.lora_A" of "base_model.model.model.layers.0.mlp.up_proj.lora_A.default.weight"."""
    return "layers." + name.partition("layers.")[2].removesuffix(".default.weight")
