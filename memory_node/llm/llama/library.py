"""llama.cpp's C interface (llama.h) by ctypes, from the library inside the xllamacpp wheel.

That wheel is llama.cpp for x86-64 and Arm Linux and for macOS without a compiler. Its own Python interface is that of
a chat server, which cannot say how likely given replies are; the C interface of the same library can. A struct's
layout holds for one release of llama.cpp, so exactly one release of the wheel is taken.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import logging
import os
from pathlib import Path
from typing import Any

from memory_node.llm.errors import ModelMissingError

WHEEL = "xllamacpp"
WHEEL_RELEASE = "2026.4.8929"
_LIBRARY_FILES = f"{WHEEL}/{WHEEL}.*"
INSTALL = "pip install 'robot_memory[llm]'"

Pointer = ctypes.c_void_p
Token = ctypes.c_int32
_LOG = logging.getLogger(__name__)
_LOG_WARN, _LOG_ERROR = 3, 4  # ggml_log_level
_Q8_0 = 8  # ggml_type
_LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, Pointer)


class ModelParams(ctypes.Structure):
    """struct llama_model_params."""

    _fields_ = (
        ("devices", Pointer),
        ("tensor_buft_overrides", Pointer),
        ("n_gpu_layers", ctypes.c_int32),
        ("split_mode", ctypes.c_int),
        ("main_gpu", ctypes.c_int32),
        ("tensor_split", Pointer),
        ("progress_callback", Pointer),
        ("progress_callback_user_data", Pointer),
        ("kv_overrides", Pointer),
        ("vocab_only", ctypes.c_bool),
        ("use_mmap", ctypes.c_bool),
        ("use_direct_io", ctypes.c_bool),
        ("use_mlock", ctypes.c_bool),
        ("check_tensors", ctypes.c_bool),
        ("use_extra_bufts", ctypes.c_bool),
        ("no_host", ctypes.c_bool),
        ("no_alloc", ctypes.c_bool),
    )


class ContextParams(ctypes.Structure):
    """struct llama_context_params."""

    _fields_ = (
        ("n_ctx", ctypes.c_uint32),
        ("n_batch", ctypes.c_uint32),
        ("n_ubatch", ctypes.c_uint32),
        ("n_seq_max", ctypes.c_uint32),
        ("n_threads", ctypes.c_int32),
        ("n_threads_batch", ctypes.c_int32),
        ("rope_scaling_type", ctypes.c_int),
        ("pooling_type", ctypes.c_int),
        ("attention_type", ctypes.c_int),
        ("flash_attn_type", ctypes.c_int),
        ("rope_freq_base", ctypes.c_float),
        ("rope_freq_scale", ctypes.c_float),
        ("yarn_ext_factor", ctypes.c_float),
        ("yarn_attn_factor", ctypes.c_float),
        ("yarn_beta_fast", ctypes.c_float),
        ("yarn_beta_slow", ctypes.c_float),
        ("yarn_orig_ctx", ctypes.c_uint32),
        ("defrag_thold", ctypes.c_float),
        ("cb_eval", Pointer),
        ("cb_eval_user_data", Pointer),
        ("type_k", ctypes.c_int),
        ("type_v", ctypes.c_int),
        ("abort_callback", Pointer),
        ("abort_callback_data", Pointer),
        ("embeddings", ctypes.c_bool),
        ("offload_kqv", ctypes.c_bool),
        ("no_perf", ctypes.c_bool),
        ("op_offload", ctypes.c_bool),
        ("swa_full", ctypes.c_bool),
        ("kv_unified", ctypes.c_bool),
        ("samplers", Pointer),
        ("n_samplers", ctypes.c_size_t),
    )


class Batch(ctypes.Structure):
    """struct llama_batch: what one call of llama_decode reads."""

    _fields_ = (
        ("n_tokens", ctypes.c_int32),
        ("token", ctypes.POINTER(Token)),
        ("embd", ctypes.POINTER(ctypes.c_float)),
        ("pos", ctypes.POINTER(ctypes.c_int32)),
        ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
        ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
        ("logits", ctypes.POINTER(ctypes.c_int8)),
    )


class TokenData(ctypes.Structure):
    """struct llama_token_data: a candidate for the next token."""

    _fields_ = (("id", Token), ("logit", ctypes.c_float), ("p", ctypes.c_float))


class TokenDataArray(ctypes.Structure):
    """struct llama_token_data_array."""

    _fields_ = (
        ("data", ctypes.POINTER(TokenData)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    )


class GgufParams(ctypes.Structure):
    """struct gguf_init_params."""

    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.POINTER(Pointer)))


class TypeTraits(ctypes.Structure):
    """struct ggml_type_traits: what a kind of weights is."""

    _fields_ = (
        ("type_name", ctypes.c_char_p),
        ("blck_size", ctypes.c_int64),
        ("blck_size_interleave", ctypes.c_int64),
        ("type_size", ctypes.c_size_t),
        ("is_quantized", ctypes.c_bool),
        ("to_float", ctypes.CFUNCTYPE(None, Pointer, Pointer, ctypes.c_int64)),
        ("from_float_ref", Pointer),
    )


_LONG, _FLOAT = ctypes.c_int64, ctypes.c_float
_INT, _UINT, _SIZE, _BOOL, _TEXT = Token, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_bool, ctypes.c_char_p
# name -> (result, arguments), for what is called here of ggml.h, gguf.h and llama.h.
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ggml_free": (None, (Pointer,)),
    "ggml_get_tensor": (Pointer, (Pointer, _TEXT)),
    "ggml_get_type_traits": (ctypes.POINTER(TypeTraits), (_INT,)),
    "ggml_nelements": (_LONG, (Pointer,)),
    "ggml_nrows": (_LONG, (Pointer,)),
    "ggml_quantize_chunk": (_SIZE, (_INT, Pointer, Pointer, _LONG, _LONG, _LONG, Pointer)),
    "gguf_find_key": (_LONG, (Pointer, _TEXT)),
    "gguf_free": (None, (Pointer,)),
    "gguf_get_alignment": (_SIZE, (Pointer,)),
    "gguf_get_data_offset": (_SIZE, (Pointer,)),
    "gguf_get_kv_type": (_INT, (Pointer, _LONG)),
    "gguf_get_meta_data": (None, (Pointer, Pointer)),
    "gguf_get_meta_size": (_SIZE, (Pointer,)),
    "gguf_get_n_tensors": (_LONG, (Pointer,)),
    "gguf_get_tensor_name": (_TEXT, (Pointer, _LONG)),
    "gguf_get_tensor_offset": (_SIZE, (Pointer, _LONG)),
    "gguf_get_tensor_size": (_SIZE, (Pointer, _LONG)),
    "gguf_get_tensor_type": (_INT, (Pointer, _LONG)),
    "gguf_get_val_f32": (_FLOAT, (Pointer, _LONG)),
    "gguf_init_from_file": (Pointer, (_TEXT, GgufParams)),
    "gguf_set_tensor_type": (None, (Pointer, _TEXT, _INT)),
    "llama_adapter_lora_init": (Pointer, (Pointer, _TEXT)),
    "llama_backend_init": (None, ()),
    "llama_batch_free": (None, (Batch,)),
    "llama_batch_init": (Batch, (_INT, _INT, _INT)),
    "llama_context_default_params": (ContextParams, ()),
    "llama_decode": (_INT, (Pointer, Batch)),
    "llama_free": (None, (Pointer,)),
    "llama_get_embeddings_ith": (ctypes.POINTER(ctypes.c_float), (Pointer, _INT)),
    "llama_get_logits_ith": (ctypes.POINTER(ctypes.c_float), (Pointer, _INT)),
    "llama_get_memory": (Pointer, (Pointer,)),
    "llama_init_from_model": (Pointer, (Pointer, ContextParams)),
    "llama_log_set": (None, (_LogCallback, Pointer)),
    "llama_memory_clear": (None, (Pointer, _BOOL)),
    "llama_memory_seq_cp": (None, (Pointer, _INT, _INT, _INT, _INT)),
    "llama_memory_seq_rm": (_BOOL, (Pointer, _INT, _INT, _INT)),
    "llama_model_chat_template": (_TEXT, (Pointer, _TEXT)),
    "llama_model_default_params": (ModelParams, ()),
    "llama_model_desc": (_INT, (Pointer, _TEXT, _SIZE)),
    "llama_model_free": (None, (Pointer,)),
    "llama_model_get_vocab": (Pointer, (Pointer,)),
    "llama_model_has_encoder": (_BOOL, (Pointer,)),
    "llama_model_is_recurrent": (_BOOL, (Pointer,)),
    "llama_model_load_from_file": (Pointer, (_TEXT, ModelParams)),
    "llama_model_meta_val_str": (_INT, (Pointer, _TEXT, _TEXT, _SIZE)),
    "llama_model_n_embd": (_INT, (Pointer,)),
    "llama_model_n_ctx_train": (_INT, (Pointer,)),
    "llama_model_n_params": (ctypes.c_uint64, (Pointer,)),
    "llama_model_size": (ctypes.c_uint64, (Pointer,)),
    "llama_n_ctx": (_UINT, (Pointer,)),
    "llama_sampler_accept": (None, (Pointer, Token)),
    "llama_sampler_apply": (None, (Pointer, ctypes.POINTER(TokenDataArray))),
    "llama_sampler_free": (None, (Pointer,)),
    "llama_sampler_init_grammar": (Pointer, (Pointer, _TEXT, _TEXT)),
    "llama_set_embeddings": (None, (Pointer, _BOOL)),
    "llama_set_adapters_lora": (_INT, (Pointer, ctypes.POINTER(Pointer), _SIZE, ctypes.POINTER(ctypes.c_float))),
    "llama_state_seq_get_data": (_SIZE, (Pointer, Pointer, _SIZE, _INT)),
    "llama_state_seq_get_size": (_SIZE, (Pointer, _INT)),
    "llama_state_seq_set_data": (_SIZE, (Pointer, Pointer, _SIZE, _INT)),
    "llama_token_to_piece": (_INT, (Pointer, Token, ctypes.c_char_p, _INT, _INT, _BOOL)),
    "llama_tokenize": (_INT, (Pointer, _TEXT, _INT, ctypes.POINTER(Token), _INT, _BOOL, _BOOL)),
    "llama_vocab_bos": (Token, (Pointer,)),
    "llama_vocab_eos": (Token, (Pointer,)),
    "llama_vocab_get_add_bos": (_BOOL, (Pointer,)),
    "llama_vocab_get_text": (_TEXT, (Pointer, Token)),
    "llama_vocab_is_eog": (_BOOL, (Pointer, Token)),
    "llama_vocab_n_tokens": (_INT, (Pointer,)),
}


@functools.cache
def llama_library() -> ctypes.CDLL:
    """Return the library with the functions above declared; it is loaded by the first call.

    Raises:
        ModelMissingError: the wheel is not installed, or is of another release.
    """
    path = _library_path()
    # Threads that wait for each other spin for some microseconds and then sleep: on a robot other work wants the cores,
    # and long spinning against it makes a token cost several times as much; without any, a token costs four times as
    # much on idle cores (docs/llm.md). OpenMP reads this when it is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "200")
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    _check_layout(library)
    library.llama_log_set(_on_log, None)
    library.llama_backend_init()
    return library


def _library_path() -> Path:
    """Return the library in the wheel. The wheel is not imported: that would load OpenMP before it is told to sleep."""
    try:
        wheel = importlib.metadata.distribution(WHEEL)
    except importlib.metadata.PackageNotFoundError:
        raise ModelMissingError(f"a language model in this process needs {WHEEL}; {INSTALL}") from None
    if wheel.version != WHEEL_RELEASE:
        raise ModelMissingError(f"{WHEEL} {WHEEL_RELEASE} is needed, {wheel.version} is installed; {INSTALL}")
    found = [file for file in wheel.files or () if file.match(_LIBRARY_FILES)]
    if not found:
        raise ModelMissingError(f"{WHEEL} {wheel.version} has no library in it; {INSTALL}")
    return Path(str(wheel.locate_file(found[0])))


def _check_layout(library: ctypes.CDLL) -> None:
    """Compare what llama.h documents as defaults with what lies where we look for them."""
    context, model = library.llama_context_default_params(), library.llama_model_default_params()
    numbers = (context.n_ctx, context.n_batch, context.n_ubatch, context.n_seq_max, context.rope_scaling_type)
    others = (context.type_k, context.type_v, context.n_samplers, model.split_mode)
    switches = (context.offload_kqv, context.kv_unified, model.vocab_only, model.use_mmap)
    documented = ((512, 2048, 512, 1, -1), (1, 1, 0, 1), (True, False, False, True))
    if (numbers, others, switches) != documented:
        raise ModelMissingError(f"{WHEEL} {WHEEL_RELEASE} has another layout than its header says; {INSTALL}")
    kind: TypeTraits = library.ggml_get_type_traits(_Q8_0).contents
    if (kind.type_name, kind.blck_size, kind.type_size, kind.is_quantized) != (b"q8_0", 32, 34, True):
        raise ModelMissingError(f"{WHEEL} {WHEEL_RELEASE} lays out weights unlike its header says; {INSTALL}")


@_LogCallback
def _on_log(level: int, text: bytes, _: Any) -> None:
    line = (text or b"").decode("utf-8", "replace").rstrip()
    if line and level in (_LOG_WARN, _LOG_ERROR):
        _LOG.log(logging.WARNING if level == _LOG_ERROR else logging.DEBUG, "llama.cpp: %s", line)
