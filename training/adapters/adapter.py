"""A language model with a LoRA adapter to train (Hu et al. 2021, arXiv:2106.09685); adapter and checkpoint on disk."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from peft import LoraConfig, get_peft_model, load_peft_weights
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from training.adapters.processes import is_first


def inner(model: Any) -> Any:
    """Return the model under its adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def decoder(model: Any) -> Any:
    """Return the part that reads tokens, or their embeddings, and gives the last layer's states."""
    return inner(model).get_decoder()


def scores(model: Any, states: Tensor) -> Tensor:
    """Return what a model makes of last-layer states (n, width): a number for each token of its vocabulary."""
    found: Tensor = inner(model).get_output_embeddings()(states)
    return found


def width(model: Any) -> int:
    """Return the size of a last-layer state, which is that of an embedding."""
    return int(inner(model).config.get_text_config().hidden_size)


def free_weights(model: Any) -> dict[str, Tensor]:
    """Return the weights of a model that are trained, by name."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def save_checkpoint(
    path: Path, free: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, run: Mapping[str, Any], **state: Any
) -> None:
    """Write a checkpoint, once for all processes. run: what tells this run from others; state: where it stands."""
    if not is_first():
        return
    weights = {name: weight.detach() for name, weight in free.items()}
    beside = path.with_suffix(".part")
    torch.save({"weights": weights, "optimizer": optimizer.state_dict(), "run": dict(run), **state}, beside)
    beside.replace(path)  # a run that is killed meanwhile goes on from the one before


def resume(
    path: Path, free: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, run: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Put weights and optimiser back to where a run stood, and return its whole checkpoint; None where there is none.

    Raises:
        ValueError: the checkpoint is of another run.
    """
    if not path.is_file():
        return None
    state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    if state["run"] != run:
        raise ValueError(f"{path} is of another run: {state['run']}, not {run}")
    _put(free, state["weights"])
    optimizer.load_state_dict(state["optimizer"])
    return state


def load_weights(model: Any, checkpoint: Path) -> None:
    """Take over what a run has learnt.

    Raises:
        ValueError: the checkpoint is of a model with other weights.
    """
    weights = torch.load(checkpoint, weights_only=True, map_location="cpu")["weights"]
    take_weights(free_weights(model), weights, checkpoint)


def take_weights(free: Mapping[str, Tensor], learnt: Mapping[str, Tensor], source: Path) -> None:
    """Take over weights by name. source: the file that they are of.

    Raises:
        ValueError: they are of a model with other weights.
    """
    if _shapes(learnt) != _shapes(free):
        raise ValueError(f"{source} is of a model with other free weights; is --rank the same?")
    _put(free, learnt)


def shuffled_epochs(count: int, epochs: int, seed: int) -> list[int]:
    """Return the numbers below `count` once for each epoch, each epoch shuffled."""
    order: list[int] = []
    for epoch in range(epochs):
        one = list(range(count))
        random.Random(f"{seed} {epoch}").shuffle(one)
        order += one
    return order


def _put(free: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, weight in free.items():
            weight.copy_(weights[name])


def _shapes(weights: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(weight.shape) for name, weight in weights.items()}


# Hugging Face's name of a layer's matrix -> GGUF's.
_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_HUGGING_FACE = {short: name for name, short in _NAMES.items()}
TARGETS = tuple(name.rpartition(".")[2] for name in _NAMES)


def write_adapter(weights: Mapping[str, NDArray[np.float32]], heads: int, alpha: float, path: Path) -> None:
    """Write the weights of an adapter of a model of the architecture "llama".

    weights: "layers.N.MATRIX.lora_A" (rank, inputs) and "...lora_B" (outputs, rank) by name. heads: of attention;
    GGUF has the two halves of each query head interleaved, so the outputs of its matrix are put in that order.

    Raises:
        ValueError: a name that is no matrix of such a model.
    """
    writer: Any = gguf.GGUFWriter(path, "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for name, values in weights.items():
        layer, matrix, part = _parts(name)
        if matrix == "attn_q" and part == "lora_b":
            values = interleaved(values, heads)
        writer.add_tensor(f"blk.{layer}.{matrix}.weight.{part}", np.ascontiguousarray(values, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_adapter(path: Path, heads: int) -> dict[str, NDArray[np.float32]]:
    """Return the weights that `write_adapter` wrote, by name.

    Raises:
        ValueError: the file is no such adapter.
    """
    try:
        tensors = gguf.GGUFReader(path).tensors
    except (OSError, ValueError, IndexError) as error:
        raise ValueError(f"{path} is no GGUF file ({error})") from error
    weights = {}
    for tensor in tensors:
        block, _, rest = tensor.name.removeprefix("blk.").partition(".")
        matrix, _, part = rest.partition(".weight.")
        if not block.isdigit() or matrix not in _HUGGING_FACE or part not in ("lora_a", "lora_b"):
            raise ValueError(f"{path}: {tensor.name!r} is no matrix of an adapter of ours")
        values = tensor.data.astype(np.float32)
        if matrix == "attn_q" and part == "lora_b":
            values = apart(values, heads)
        weights[f"layers.{block}.{_HUGGING_FACE[matrix]}.{part[:-1]}{part[-1].upper()}"] = values
    return weights


def interleaved(values: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Return the rows (heads * size, n) of rotary heads with those of their first and second halves in turns."""
    rows, columns = values.shape
    halves = values.reshape(heads, 2, rows // heads // 2, columns)
    return halves.swapaxes(1, 2).reshape(rows, columns)


def apart(values: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Return interleaved rows in the order that they had before."""
    rows, columns = values.shape
    turns = values.reshape(heads, rows // heads // 2, 2, columns)
    return turns.swapaxes(1, 2).reshape(rows, columns)


def _parts(name: str) -> tuple[int, str, str]:
    """Return the layer, the matrix and the part of "layers.3.mlp.up_proj.lora_A"."""
    words = name.split(".")
    matrix = ".".join(words[2:-1])
    if len(words) < 4 or words[0] != "layers" or matrix not in _NAMES or words[-1] not in ("lora_A", "lora_B"):
        raise ValueError(f"{name!r}: no matrix of an adapter")
    return int(words[1]), _NAMES[matrix], words[-1].lower()


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
