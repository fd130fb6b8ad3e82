"""Reads a GGUF file's tensors, and its header with other kinds of weights, by llama.cpp's own functions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.errors import ModelMissingError
from memory_node.llm.llama.library import GgufParams, Pointer, llama_library

FLOAT32, FLOAT16, Q4_1, Q5_1, Q8_0, BFLOAT16 = 0, 1, 3, 7, 8, 30  # ggml_type
_GGUF_FLOAT32 = 6  # gguf_type


class TensorFile:
    """An opened GGUF file; a context manager. Tensors are read when asked for.

    Raises:
        ModelMissingError: the file is no GGUF file.
    """

    def __init__(self, path: Path) -> None:
        self._library = llama_library()
        self._shapes = Pointer()
        self._header: Pointer = self._library.gguf_init_from_file(
            os.fsencode(path), GgufParams(True, ctypes.pointer(self._shapes))
        )
        if not self._header:
            raise ModelMissingError(f"{path} is no GGUF file")
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self._data_start: int = self._library.gguf_get_data_offset(self._header)
        count: int = self._library.gguf_get_n_tensors(self._header)
        self._names = [self._library.gguf_get_tensor_name(self._header, i).decode() for i in range(count)]
        self._numbers = {name: i for i, name in enumerate(self._names)}
        self._extents = [self._extent(i) for i in range(count)]
        self.kinds = {name: self._library.gguf_get_tensor_type(self._header, i) for i, name in enumerate(self._names)}

    def __enter__(self) -> TensorFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.gguf_free(self._header)
        self._library.ggml_free(self._shapes)

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors, in the order in which their data lie."""
        return tuple(self._names)

    @property
    def alignment(self) -> int:
        """Each tensor's data begin at a multiple of it (bytes)."""
        return int(self._library.gguf_get_alignment(self._header))

    def number(self, key: str) -> float | None:
        """Return a 32-bit float of the header, None where there is none of that name."""
        at: int = self._library.gguf_find_key(self._header, key.encode())
        if at < 0 or self._library.gguf_get_kv_type(self._header, at) != _GGUF_FLOAT32:
            return None
        return float(self._library.gguf_get_val_f32(self._header, at))

    def shape(self, name: str) -> tuple[int, int]:
        """Return rows and weights a row; what has more than two dimensions counts as rows, too."""
        tensor = self._library.ggml_get_tensor(self._shapes, name.encode())
        rows: int = self._library.ggml_nrows(tensor)
        return rows, self._library.ggml_nelements(tensor) // rows

    def stored(self, name: str) -> NDArray[np.uint8]:
        """Return a tensor's bytes as they lie in the file."""
        start, size = self._extents[self._numbers[name]]
        return self._bytes[start : start + size]

    def weights(self, name: str) -> NDArray[np.float32]:
        """Return a tensor's weights, (rows, weights a row)."""
        rows, columns = self.shape(name)
        found = np.empty((rows, columns), dtype=np.float32)
        stored = np.ascontiguousarray(self.stored(name))
        if self.kinds[name] == FLOAT32:
            return stored.view(np.float32).reshape(rows, columns)
        to_float = self._library.ggml_get_type_traits(self.kinds[name]).contents.to_float
        to_float(stored.ctypes.data, found.ctypes.data, found.size)
        return found

    def header_with(self, kinds: Mapping[str, int]) -> bytes:
        """Return the header of a file in which these tensors are of other kinds (ggml_type). This file's own stays."""
        for name, kind in kinds.items():
            self._library.gguf_set_tensor_type(self._header, name.encode(), kind)
        header = ctypes.create_string_buffer(self._library.gguf_get_meta_size(self._header))
        self._library.gguf_get_meta_data(self._header, header)
        for name in kinds:
            self._library.gguf_set_tensor_type(self._header, name.encode(), self.kinds[name])
        return header.raw

    def _extent(self, number: int) -> tuple[int, int]:
        start = self._data_start + int(self._library.gguf_get_tensor_offset(self._header, number))
        size = int(self._library.gguf_get_tensor_size(self._header, number))
        if start + size > len(self._bytes):
            raise ModelMissingError(f"the file ends before the weights of {self._names[number]}")
        return start, size


def stored_as(kind: int, weights: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the bytes of weights in a kind (ggml_type). weights: (rows, weights a row)."""
    rows, columns = weights.shape
    weights = np.ascontiguousarray(weights)
    stored = np.empty(weights.nbytes, dtype=np.uint8)  # no kind takes more than 32 bits a weight
    quantize = llama_library().ggml_quantize_chunk
    return stored[: quantize(kind, weights.ctypes.data, stored.ctypes.data, 0, rows, columns, None)]
