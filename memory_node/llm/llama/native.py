"""llama.cpp's C interface (llama.h) by ctypes, from the library inside the xllamacpp wheel: what has no public door.

That wheel's Python interface is a chat server (model.py). It cannot say how likely given replies are, give inner
states, or read vectors instead of tokens; the C interface of the same library can. A struct's layout holds for one
release of llama.cpp, so exactly one release of the wheel is taken.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.chat import LlmError, ModelMissingError

WHEEL = "xllamacpp"
WHEEL_RELEASE = "2026.4.8929"
INSTALL = "pip install 'robot_memory[llm]'"
# Tokens that one pass reads; no deadline ends a pass.
PASS_TOKENS = 63
EVERY = -1  # stands for all sequences
_PLAIN_ATTENTION = 0
_FLOAT32 = 0  # ggml_type
_LONGEST_PIECE = 512  # bytes; a token that is longer is asked for once more with room for it
_LOG = logging.getLogger(__name__)
_LOG_ERROR = 4  # ggml_log_level
Pointer = ctypes.c_void_p
Vectors = NDArray[np.float32]
_INT, _UINT, _SIZE, _FLOAT = ctypes.c_int32, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_float
_BOOL, _TEXT = ctypes.c_bool, ctypes.c_char_p
_LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, _TEXT, Pointer)
# Token, position, the sequences that it belongs to, whether its logits are wanted.
Row = tuple[int, int, tuple[int, ...], bool]


def _fields(**named: Any) -> list[tuple[str, Any]]:
    """Return a struct's fields. named: the type of one, or of several whose names are joined by two underscores."""
    return [(name, kind) for names, kind in named.items() for name in names.split("__")]


class ModelParams(ctypes.Structure):
    """struct llama_model_params."""

    _fields_ = _fields(
        devices__tensor_buft_overrides=Pointer,
        n_gpu_layers__split_mode__main_gpu=_INT,
        tensor_split__progress_callback__progress_callback_user_data__kv_overrides=Pointer,
        vocab_only__use_mmap__use_direct_io__use_mlock__check_tensors__use_extra_bufts__no_host__no_alloc=_BOOL,
    )


class ContextParams(ctypes.Structure):
    """struct llama_context_params."""

    _fields_ = _fields(
        n_ctx__n_batch__n_ubatch__n_seq_max=_UINT,
        n_threads__n_threads_batch__rope_scaling_type__pooling_type__attention_type__flash_attn_type=_INT,
        rope_freq_base__rope_freq_scale__yarn_ext_factor__yarn_attn_factor__yarn_beta_fast__yarn_beta_slow=_FLOAT,
        yarn_orig_ctx=_UINT,
        defrag_thold=_FLOAT,
        cb_eval__cb_eval_user_data=Pointer,
        type_k__type_v=_INT,
        abort_callback__abort_callback_data=Pointer,
        embeddings__offload_kqv__no_perf__op_offload__swa_full__kv_unified=_BOOL,
        samplers=Pointer,
        n_samplers=_SIZE,
    )


class Batch(ctypes.Structure):
    """struct llama_batch: what one call of llama_decode reads."""

    _fields_ = _fields(
        n_tokens=_INT,
        token=ctypes.POINTER(_INT),
        embd=ctypes.POINTER(_FLOAT),
        pos__n_seq_id=ctypes.POINTER(_INT),
        seq_id=ctypes.POINTER(ctypes.POINTER(_INT)),
        logits=ctypes.POINTER(ctypes.c_int8),
    )


# name -> (result, arguments), for what is called here of llama.h.
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "llama_adapter_lora_init": (Pointer, (Pointer, _TEXT)),
    "llama_backend_init": (None, ()),
    "llama_batch_free": (None, (Batch,)),
    "llama_batch_init": (Batch, (_INT, _INT, _INT)),
    "llama_context_default_params": (ContextParams, ()),
    "llama_decode": (_INT, (Pointer, Batch)),
    "llama_free": (None, (Pointer,)),
    "llama_get_embeddings_ith": (ctypes.POINTER(_FLOAT), (Pointer, _INT)),
    "llama_get_logits_ith": (ctypes.POINTER(_FLOAT), (Pointer, _INT)),
    "llama_get_memory": (Pointer, (Pointer,)),
    "llama_init_from_model": (Pointer, (Pointer, ContextParams)),
    "llama_log_set": (None, (_LogCallback, Pointer)),
    "llama_memory_seq_cp": (None, (Pointer, _INT, _INT, _INT, _INT)),
    "llama_memory_seq_rm": (_BOOL, (Pointer, _INT, _INT, _INT)),
    "llama_model_chat_template": (_TEXT, (Pointer, _TEXT)),
    "llama_model_default_params": (ModelParams, ()),
    "llama_model_free": (None, (Pointer,)),
    "llama_model_get_vocab": (Pointer, (Pointer,)),
    "llama_model_has_encoder": (_BOOL, (Pointer,)),
    "llama_model_is_recurrent": (_BOOL, (Pointer,)),
    "llama_model_load_from_file": (Pointer, (_TEXT, ModelParams)),
    "llama_model_meta_val_str": (_INT, (Pointer, _TEXT, _TEXT, _SIZE)),
    "llama_model_n_ctx_train": (_INT, (Pointer,)),
    "llama_model_n_embd": (_INT, (Pointer,)),
    "llama_n_ctx": (_UINT, (Pointer,)),
    "llama_set_adapters_lora": (_INT, (Pointer, ctypes.POINTER(Pointer), _SIZE, ctypes.POINTER(_FLOAT))),
    "llama_set_embeddings": (None, (Pointer, _BOOL)),
    "llama_token_to_piece": (_INT, (Pointer, _INT, _TEXT, _INT, _INT, _BOOL)),
    "llama_tokenize": (_INT, (Pointer, _TEXT, _INT, ctypes.POINTER(_INT), _INT, _BOOL, _BOOL)),
    "llama_vocab_bos": (_INT, (Pointer,)),
    "llama_vocab_eos": (_INT, (Pointer,)),
    "llama_vocab_get_add_bos": (_BOOL, (Pointer,)),
    "llama_vocab_get_text": (_TEXT, (Pointer, _INT)),
    "llama_vocab_is_control": (_BOOL, (Pointer, _INT)),
    "llama_vocab_is_eog": (_BOOL, (Pointer, _INT)),
    "llama_vocab_n_tokens": (_INT, (Pointer,)),
}


@functools.cache
def llama_library() -> ctypes.CDLL:
    """Return the library with the functions above declared; it is loaded by the first call.

    Raises:
        ModelMissingError: the wheel is not installed, or is of another release.
    """
    path = library_path()
    # Threads that wait for each other spin for some microseconds and then sleep: on a robot other work wants the cores,
    # and long spinning against it makes a token cost several times as much; without any, a token costs four times as
    # much on idle cores (docs/llm.md). OpenMP reads this when it is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "200")
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    _check_layout(library)
    library.llama_log_set(_on_log, None)
    library.llama_backend_init()
    return library


def library_path() -> Path:
    """Return the library in the wheel, not imported: OpenMP must be told first how to wait. Raises: see above."""
    try:
        wheel = importlib.metadata.distribution(WHEEL)
    except importlib.metadata.PackageNotFoundError:
        raise ModelMissingError(f"a language model in this process needs {WHEEL}; {INSTALL}") from None
    if wheel.version != WHEEL_RELEASE:
        raise ModelMissingError(f"{WHEEL} {WHEEL_RELEASE} is needed, {wheel.version} is installed; {INSTALL}")
    return next(Path(str(wheel.locate_file(file))) for file in wheel.files or () if file.match(f"{WHEEL}/{WHEEL}.*"))


def _check_layout(library: ctypes.CDLL) -> None:
    """Compare llama.h's defaults with what lies where we look for them."""
    context, model = library.llama_context_default_params(), library.llama_model_default_params()
    numbers = (context.n_ctx, context.n_batch, context.n_ubatch, context.n_seq_max, context.rope_scaling_type)
    others = (context.type_k, context.type_v, context.n_samplers, model.split_mode)
    switches = (context.offload_kqv, context.kv_unified, model.vocab_only, model.use_mmap)
    if (numbers, others, switches) != ((512, 2048, 512, 1, -1), (1, 1, 0, 1), (True, False, False, True)):
        raise ModelMissingError(f"{WHEEL} {WHEEL_RELEASE} has another layout than its header says; {INSTALL}")


@_LogCallback
def _on_log(level: int, text: bytes, _: Any) -> None:
    if level == _LOG_ERROR:
        _LOG.warning("llama.cpp: %s", (text or b"").decode("utf-8", "replace").rstrip())


class GgufModel:
    """A GGUF file: its name, chat template and tokenizer; its weights unless vocab_only.

    Raises:
        ModelMissingError: the library or the file is missing, or the file is no model that llama.cpp reads.
    """

    def __init__(self, path: Path, vocab_only: bool = False) -> None:
        self._library = llama_library()
        self.path = path
        params: ModelParams = self._library.llama_model_default_params()
        params.vocab_only = vocab_only
        self.pointer = Pointer(self._library.llama_model_load_from_file(os.fsencode(path), params))
        if not self.pointer:
            raise ModelMissingError(f"{path} is no model that llama.cpp can read")
        self.vocabulary = Vocabulary(self._library, self.pointer)
        self._adapters: dict[str, Pointer] = {}

    @property
    def title(self) -> str:
        """The name that the file gives the model, else the file's."""
        buffer = ctypes.create_string_buffer(1024)
        self._library.llama_model_meta_val_str(self.pointer, b"general.name", buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") or self.path.stem

    @property
    def chat_template(self) -> str:
        """The template in the file, "" for none."""
        source = self._library.llama_model_chat_template(self.pointer, None)
        return source.decode("utf-8", "replace") if source else ""

    def adapter(self, path: str) -> Pointer:
        """Return a LoRA adapter (GGUF), read once.

        Raises:
            ModelMissingError: the file is none for this model.
        """
        if path not in self._adapters:
            adapter = self._library.llama_adapter_lora_init(self.pointer, os.fsencode(path))
            if not adapter:
                raise ModelMissingError(f"{path} is no LoRA adapter (GGUF) for {self.path.name}")
            self._adapters[path] = Pointer(adapter)
        return self._adapters[path]

    def close(self) -> None:
        """Free it; again does nothing. Its adapters go with it."""
        if self.pointer:
            self._library.llama_model_free(self.pointer)
            self.pointer = Pointer()


class Vocabulary:
    """Turns text into a model's tokens and back."""

    def __init__(self, library: ctypes.CDLL, model: Pointer) -> None:
        self._library = library
        self.pointer = Pointer(library.llama_model_get_vocab(model))
        self.size: int = library.llama_vocab_n_tokens(self.pointer)
        self.begin: int = library.llama_vocab_bos(self.pointer)
        self.begins_with_it: bool = library.llama_vocab_get_add_bos(self.pointer)
        self.end: int = library.llama_vocab_eos(self.pointer)

    def tokens(self, text: str, control: bool = False) -> list[int]:
        """Return the tokens of a text. control: names of control tokens in it, such as <|im_end|>, are those tokens."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            buffer = (_INT * room)()
            count = self._library.llama_tokenize(self.pointer, data, len(data), buffer, room, False, control)
            if count >= 0:
                return list(buffer[:count])
            room = -count

    def text(self, tokens: Iterable[int]) -> str:
        """Return what tokens say, control tokens nothing; bytes that are no UTF-8 are replaced."""
        return b"".join(map(self.piece, tokens)).decode("utf-8", "replace")

    def ends(self, token: int) -> bool:
        """Return whether a token ends the model's turn."""
        return bool(self._library.llama_vocab_is_eog(self.pointer, token))

    def text_of_control(self, token: int) -> str:
        """Return how a control token is written in a template, "" for none."""
        name = self._library.llama_vocab_get_text(self.pointer, token) if token >= 0 else None
        return name.decode("utf-8", "replace") if name else ""

    def controls(self) -> list[str]:
        """Return how all control tokens are written."""
        is_control = self._library.llama_vocab_is_control
        return [self.text_of_control(token) for token in range(self.size) if is_control(self.pointer, token)]

    def piece(self, token: int) -> bytes:
        """Return the bytes that a token stands for, which need not be whole characters; none for control tokens."""
        room = _LONGEST_PIECE
        while True:
            buffer = ctypes.create_string_buffer(room)
            count = self._library.llama_token_to_piece(self.pointer, token, buffer, room, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            room = -count


class NativeModel(GgufModel):
    """One model with one attention memory, whose sequences share `window_tokens` cells; for one thread at a time.

    window_tokens: cut to what the model was trained for. sequences: how many there can be. threads: that compute.
    adapter: path of the LoRA adapter (GGUF) that it computes with, "" for none.

    Raises:
        ModelMissingError: see GgufModel, or the file is no adapter for it.
    """

    def __init__(self, path: Path, window_tokens: int, sequences: int, threads: int, adapter: str = "") -> None:
        super().__init__(path)
        library = self._library
        if library.llama_model_has_encoder(self.pointer) or library.llama_model_is_recurrent(self.pointer):
            # Their memory cannot be cut back to a beginning, or shared between candidates.
            raise ModelMissingError(f"{path} is no decoder with attention; only those are supported")
        trained_tokens: int = library.llama_model_n_ctx_train(self.pointer)
        self._context = self._opened(min(window_tokens, trained_tokens), sequences, threads)
        self._memory = Pointer(library.llama_get_memory(self._context))
        self.window_tokens: int = library.llama_n_ctx(self._context)
        self.width: int = library.llama_model_n_embd(self.pointer)
        self._batch = library.llama_batch_init(PASS_TOKENS, 0, sequences)
        self._vector_batch = library.llama_batch_init(PASS_TOKENS, self.width, sequences)
        self._use((adapter,) if adapter else ())

    def _opened(self, window_tokens: int, sequences: int, threads: int) -> Pointer:
        params: ContextParams = self._library.llama_context_default_params()
        params.n_ctx = window_tokens
        params.n_batch = params.n_ubatch = PASS_TOKENS
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = threads
        # On a processor matrix products read a prompt faster than llama.cpp's flash attention does. Values in 32 bits:
        # in 16 the likelihoods would depend on how many tokens a pass reads.
        params.flash_attn_type = _PLAIN_ATTENTION
        params.type_v = _FLOAT32
        params.kv_unified = True  # candidates share the cells of their prompt
        context = self._library.llama_init_from_model(self.pointer, params)
        if not context:
            raise ModelMissingError(f"no memory for {window_tokens} tokens of {self.path}")
        return Pointer(context)

    def _use(self, paths: tuple[str, ...]) -> None:
        adapters = (Pointer * len(paths))(*map(self.adapter, paths))
        scales = (_FLOAT * len(paths))(*[1.0] * len(paths))
        if self._library.llama_set_adapters_lora(self._context, adapters, len(paths), scales):
            raise ModelMissingError(f"llama.cpp refuses the adapters {', '.join(paths)}")

    def cut(self, sequence: int, start: int) -> None:
        """Take everything from position `start` on out of a sequence, or of all (EVERY)."""
        self._library.llama_memory_seq_rm(self._memory, sequence, start, -1)

    def share(self, source: int, target: int, end: int) -> None:
        """Let the first `end` positions of `source` belong to `target`, too."""
        self._library.llama_memory_seq_cp(self._memory, source, target, 0, end)

    def compute(self, rows: Sequence[Row], vectors: Vectors | None = None) -> NDArray[np.float32]:
        """Read at most PASS_TOKENS rows into the memory; return (wanted, vocabulary) logits.

        vectors: (rows, width) embeddings that are read instead of the rows' tokens.

        Raises:
            LlmError: llama.cpp cannot; the memory is in no known state then.
        """
        batch = self._batch if vectors is None else self._vector_batch
        batch.n_tokens = len(rows)
        if vectors is not None:
            np.ctypeslib.as_array(batch.embd, (PASS_TOKENS, self.width))[: len(rows)] = vectors
        for index, (token, position, sequences, is_wanted) in enumerate(rows):
            if vectors is None:
                batch.token[index] = token
            batch.pos[index] = position
            batch.n_seq_id[index] = len(sequences)
            for place, sequence in enumerate(sequences):
                batch.seq_id[index][place] = sequence
            batch.logits[index] = is_wanted
        outcome = self._library.llama_decode(self._context, batch)
        if outcome:
            raise LlmError(f"llama.cpp cannot read {len(rows)} tokens (llama_decode: {outcome})")
        size, logits_of = self.vocabulary.size, self._library.llama_get_logits_ith
        wanted = [logits_of(self._context, index) for index, row in enumerate(rows) if row[3]]
        return np.array([np.ctypeslib.as_array(row, (size,)) for row in wanted], np.float32).reshape(-1, size)

    def states(self, rows: Sequence[Row], vectors: Vectors) -> Vectors:
        """Read vectors (rows, width) instead of tokens into the memory; return the last layer's states (rows, width).

        Raises:
            LlmError: see compute.
        """
        self._library.llama_set_embeddings(self._context, True)
        try:
            self.compute([(*row[:3], True) for row in rows], vectors)
            found = (self._library.llama_get_embeddings_ith(self._context, index) for index in range(len(rows)))
            return np.stack([np.ctypeslib.as_array(state, (self.width,)) for state in found])
        finally:
            self._library.llama_set_embeddings(self._context, False)

    def close(self) -> None:
        """Free everything; again does nothing."""
        if self._context:
            self._library.llama_batch_free(self._batch)
            self._library.llama_batch_free(self._vector_batch)
            self._library.llama_free(self._context)
            self._context = Pointer()
        super().close()
