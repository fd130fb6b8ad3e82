"""The embeddings of a model's tokens, out of its GGUF file by llama.cpp's own functions."""

import ctypes
import os

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.native import Pointer, llama_library


class _GgufParams(ctypes.Structure):
    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.POINTER(Pointer)))


class _TypeTraits(ctypes.Structure):
    _fields_ = (
        ("type_name", ctypes.c_char_p),
        ("blck_size", ctypes.c_int64),
        ("blck_size_interleave", ctypes.c_int64),
        ("type_size", ctypes.c_size_t),
        ("is_quantized", ctypes.c_bool),
        ("to_float", ctypes.CFUNCTYPE(None, Pointer, Pointer, ctypes.c_int64)),
        ("from_float_ref", Pointer),
    )


def embeddings(model: LlamaModel, tokens: list[int]) -> NDArray[np.float32]:
    """Return (tokens, width)."""
    library = llama_library()
    for name, result in {
        "gguf_init_from_file": Pointer,
        "gguf_find_tensor": ctypes.c_int64,
        "gguf_get_data_offset": ctypes.c_size_t,
        "gguf_get_tensor_offset": ctypes.c_size_t,
        "gguf_get_tensor_size": ctypes.c_size_t,
        "gguf_get_tensor_type": ctypes.c_int,
        "ggml_get_type_traits": ctypes.POINTER(_TypeTraits),
    }.items():
        getattr(library, name).restype = result
    header = Pointer(library.gguf_init_from_file(os.fsencode(model.file.path), _GgufParams(True, None)))
    number = ctypes.c_int64(library.gguf_find_tensor(header, b"token_embd.weight"))
    start = library.gguf_get_data_offset(header) + library.gguf_get_tensor_offset(header, number)
    stored = np.fromfile(model.file.path, np.uint8, library.gguf_get_tensor_size(header, number), offset=start)
    table = np.empty((model.file.vocabulary.size, model.engine.native.width), np.float32)
    traits = library.ggml_get_type_traits(library.gguf_get_tensor_type(header, number)).contents
    traits.to_float(stored.ctypes.data, table.ctypes.data, table.size)
    library.gguf_free(header)
    return np.ascontiguousarray(table[tokens])
