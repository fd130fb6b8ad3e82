"""The embedded model where it is installed, and LoRA adapters for it."""

import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.llm.chat import ModelMissingError
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.open_model import ModelShelf

# One thread: where other work has the cores, two wait for each other at every step.
EMBEDDED = ModelConfig(threads=1, timeout_s=100.0, max_reply_tokens=60)


@pytest.fixture(scope="session")
def shelf() -> Iterator[ModelShelf]:
    shelf = ModelShelf()
    try:
        shelf.open(EMBEDDED)
    except ModelMissingError as missing:
        pytest.skip(str(missing))
    yield shelf
    shelf.close()


@pytest.fixture
def embedded(shelf: ModelShelf) -> Callable[..., LlamaModel]:
    """Return a maker of uses of the embedded model: embedded(temperature=1.0, ...)."""
    return lambda **config: shelf.open_in_process(EMBEDDED.changed(**config))


@pytest.fixture
def lora(tmp_path: Path) -> Callable[[float], str]:
    """Return a maker of adapters of the embedded model's first layers: lora(strength) -> path."""

    def make(strength: float) -> str:
        chance = np.random.default_rng(0)
        width, rank = 576, 4
        a = chance.normal(size=(rank, width)).astype(np.float32) / width**0.5
        b = strength * chance.normal(size=(width, rank)).astype(np.float32)
        path = tmp_path / f"lora-{strength:g}.gguf"
        write_lora(path, {f"blk.{layer}.attn_q.weight": (a, b) for layer in range(4)}, alpha=float(rank))
        return str(path)

    return make


_STRING, _FLOAT = 8, 6
_ALIGNMENT = 32


def write_lora(path: Path, pairs: Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]], alpha: float) -> None:
    """Write an adapter as GGUF 3. pairs: (a: (rank, inputs), b: (outputs, rank)) by the name of the
    weights that they change."""
    texts = {"general.type": "adapter", "general.architecture": "llama", "adapter.type": "lora"}
    tensors = {
        f"{name}.lora_{letter}": np.ascontiguousarray(part, dtype=np.float32)
        for name, pair in pairs.items()
        for letter, part in zip("ab", pair)
    }
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(texts) + 1)
    for key, text in texts.items():
        head += _string(key) + struct.pack("<I", _STRING) + _string(text)
    head += _string("adapter.lora.alpha") + struct.pack("<If", _FLOAT, alpha)
    data = b""
    for name, tensor in tensors.items():
        data += bytes(-len(data) % _ALIGNMENT)
        head += _string(name) + struct.pack("<IQQIQ", 2, *reversed(tensor.shape), 0, len(data))
        data += tensor.tobytes()
    path.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + data + bytes(-len(data) % _ALIGNMENT))


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()
