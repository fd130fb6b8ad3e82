"""A LoRA adapter as the GGUF file that llama.cpp reads beside the model: written, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

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
