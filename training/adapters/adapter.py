"""A language model with a LoRA adapter (Hu et al. 2021, arXiv:2106.09685) to train, and that adapter's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from training.adapters.export import TARGETS, write_adapter
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


def save_adapter(model: Any, path: Path) -> None:
    """Write the adapter of a model as GGUF."""
    weights = {}
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            # "base_model.model.model.layers.0.self_attn.q_proj.lora_A.default.weight"
            inner = name.partition("layers.")[2].removesuffix(".default.weight")
            weights[f"layers.{inner}"] = weight.detach().cpu().numpy()
    alpha = float(model.peft_config["default"].lora_alpha)
    write_adapter(weights, model.config.num_attention_heads, alpha, path)
