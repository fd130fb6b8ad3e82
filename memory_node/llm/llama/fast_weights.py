"""Weights as llama.cpp computes them fastest: a LoRA adapter merged into them, and kinds without a fast kernel as Q8_0.

They live in memory for as long as the model: made anew at each start, in about a second for 135 million weights, they
can neither be out of date nor fill a disk.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.errors import ModelMissingError
from memory_node.llm.llama.tensor_file import BFLOAT16, FLOAT16, FLOAT32, Q4_1, Q5_1, Q8_0, TensorFile, stored_as

_LOG = logging.getLogger(__name__)
# This release of llama.cpp multiplies matrices of them vector by vector, those of Q4_0, Q5_0 and Q8_0 in tiles.
_SLOW_KINDS = frozenset({Q4_1, Q5_1})
_WHOLE_KINDS = frozenset({FLOAT32, FLOAT16, BFLOAT16})


@contextlib.contextmanager
def fast_weights(model: Path, adapter: str = "") -> Iterator[Path]:
    """Give the path of a GGUF file with the same model's fast weights; it is there only inside the `with`.

    adapter: path of a LoRA adapter (GGUF) that is merged into them, "" for none.

    Raises:
        ModelMissingError: a file is no GGUF file, or the adapter does not belong to the model.
        OSError: there is no room for the weights.
    """
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        base = stack.enter_context(TensorFile(model))
        changes = Adapter(stack.enter_context(TensorFile(Path(adapter))), adapter, base) if adapter else None
        changed = changes.changed if changes else frozenset()
        kinds = {name: _kind(base, name) for name in base.names if name in changed or base.kinds[name] in _SLOW_KINDS}
        file = stack.enter_context(_file())
        file.write(base.header_with(kinds))
        for name in base.names:
            data = base.stored(name)
            if name in kinds:
                change = changes.change(name) if changes and name in changed else np.float32(0.0)
                data = stored_as(kinds[name], base.weights(name) + change)
            file.write(data.tobytes())
            file.write(bytes(-data.nbytes % base.alignment))
        file.flush()
        made = f"{len(kinds)} of {len(base.names)} tensors in {time.monotonic() - started:.1f} s"
        _LOG.info("fast weights of %s%s: %s", model.name, f" with {Path(adapter).name}" if adapter else "", made)
        yield Path(f"/proc/self/fd/{file.fileno()}") if hasattr(os, "memfd_create") else Path(file.name)


def _kind(base: TensorFile, name: str) -> int:
    """Return the kind that a changed tensor gets: its own where a weight has 16 bits or more."""
    return base.kinds[name] if base.kinds[name] in _WHOLE_KINDS else Q8_0


def _file() -> IO[bytes]:
    """Return an empty file: in memory where the system can, else one that is deleted when it is closed."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("weights"), "w+b")
    return tempfile.NamedTemporaryFile(suffix=".gguf")


class Adapter:
    """A LoRA adapter (Hu et al. 2021) that fits a model: each changed tensor gets alpha / rank * B A.

    Raises:
        ModelMissingError: it does not fit.
    """

    def __init__(self, file: TensorFile, path: str, base: TensorFile) -> None:
        self._file = file
        self._alpha = file.number("adapter.lora.alpha")
        stems = {name.rpartition(".lora_")[0] for name in file.names}
        whole = all(f"{stem}.lora_{letter}" in file.names for stem in stems for letter in "ab")
        if not stems or not whole or len(file.names) != 2 * len(stems):
            raise ModelMissingError(f"{path} is no LoRA adapter (GGUF)")
        for stem in stems:
            self._check(stem, path, base)
        self.changed = frozenset(stems)

    def change(self, name: str) -> NDArray[np.float32]:
        """Return what is added to a tensor's weights, in its shape."""
        a, b = self._file.weights(f"{name}.lora_a"), self._file.weights(f"{name}.lora_b")
        rank = len(a)
        scale = self._alpha / rank if self._alpha else 1.0
        return np.asarray(scale * (b @ a), dtype=np.float32)

    def _check(self, stem: str, path: str, base: TensorFile) -> None:
        (rank, inputs), (outputs, columns) = (self._file.shape(f"{stem}.lora_{letter}") for letter in "ab")
        fits = stem in base.names and base.shape(stem) == (outputs, inputs) and rank == columns
        if not fits:
            raise ModelMissingError(f"{path} is no adapter for this model: {stem} has another shape, or is missing")
