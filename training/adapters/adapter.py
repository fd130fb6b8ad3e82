"""A language model with a LoRA adapter (Hu et al. 2021, arXiv:2106.09685) to train, and that adapter on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model, load_peft_weights
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from training.adapters.checkpoint import free_weights, load_weights, take_weights
from training.adapters.export import TARGETS, read_adapter, write_adapter
from training.adapters.text_model import decoder

_ALPHA_OF_RANK = 2


def gguf_model(file: Path) -> Any:
    """Return the model of a GGUF file, its weights dequantised.

    Raises:
        ValueError: of another architecture than "llama": llama.cpp would not read our adapter of it.
    """
    model = AutoModelForCausalLM.from_pretrained(
        str(file.parent), gguf_file=file.name, dtype=torch.float32, local_files_only=True
    )
    kind = model.config.model_type
    if kind != "llama":
        raise ValueError(f"{file} is a {kind!r}, of which no adapter is written as GGUF: name its folder instead")
    return model


def with_adapter(model: Any, rank: int) -> Any:
    """Return a model with an untrained adapter where it reads and writes text; its own weights are frozen."""
    alpha = _ALPHA_OF_RANK * rank
    config = LoraConfig(r=rank, lora_alpha=alpha, target_modules=_matrices(model), task_type="CAUSAL_LM")
    return get_peft_model(model, config)


def load_adapter(model: Any, path: Path) -> None:
    """Give a model's adapter what a run has learnt: its checkpoint, or the adapter that came of it.

    Raises:
        ValueError: the file is of a model with other weights.
    """
    if path.is_dir():
        known = free_weights(model)
        learnt = {name.replace(".weight", ".default.weight"): values for name, values in _peft_weights(path).items()}
        take_weights(known, learnt, path)
    elif path.suffix == ".gguf":
        short = {_short_name(name): weight for name, weight in free_weights(model).items()}
        weights = read_adapter(path, _heads(model))
        take_weights(short, {name: torch.from_numpy(values) for name, values in weights.items()}, path)
    else:
        load_weights(model, path)


def with_loaded_adapter(model: Any, path: Path) -> Any:
    """Return a model with the adapter of a GGUF file or of a folder, whatever its rank.

    Raises:
        ValueError: it is of a model with other weights.
    """
    weights = _peft_weights(path) if path.is_dir() else read_adapter(path, _heads(model))
    rank = next((len(values) for name, values in weights.items() if "lora_A" in name), 1)
    adapted = with_adapter(model, rank)
    load_adapter(adapted, path)
    return adapted


def save_adapter(model: Any, path: Path) -> None:
    """Write the adapter of a model: as GGUF, or without a suffix as a folder in PEFT's format, which servers read."""
    if path.suffix != ".gguf":
        model.save_pretrained(str(path))
        return
    weights = {_short_name(name): weight.detach().cpu().numpy() for name, weight in free_weights(model).items()}
    alpha = float(model.peft_config["default"].lora_alpha)
    write_adapter(weights, _heads(model), alpha, path)


def size_of(adapter: Path) -> int:
    """Return the bytes of an adapter, a file or a folder."""
    files = adapter.iterdir() if adapter.is_dir() else (adapter,)
    return sum(file.stat().st_size for file in files)


def _heads(model: Any) -> int:
    return int(model.config.get_text_config().num_attention_heads)


def _matrices(model: Any) -> list[str]:
    """Return the names of the matrices that get an adapter: those of the part that reads text, no vision tower's."""
    reads = decoder(model)
    inside = next(name for name, module in model.named_modules() if module is reads)
    linear = [f"{inside}.{name}" for name, module in reads.named_modules() if isinstance(module, nn.Linear)]
    return [name for name in linear if name.rpartition(".")[2] in TARGETS] or linear


def _peft_weights(folder: Path) -> dict[str, Tensor]:
    """Return the weights of an adapter in PEFT's format.

    Raises:
        ValueError: the folder has none.
    """
    file = folder / "adapter_model.safetensors"
    if not file.is_file():  # PEFT would look for it in the network
        raise ValueError(f"{folder} has no {file.name}")
    weights: dict[str, Tensor] = load_peft_weights(str(folder), device="cpu")
    return weights


def _short_name(name: str) -> str:
    """Return "layers.0.mlp.up_proj.lora_A" of "base_model.model.model.layers.0.mlp.up_proj.lora_A.default.weight"."""
    return "layers." + name.partition("layers.")[2].removesuffix(".default.weight")
