"""A GGUF file in llama.cpp: its weights, its attention memory and what it computes. Not for several threads at once."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.errors import LlmError, ModelMissingError
from memory_node.llm.llama.library import ContextParams, Pointer, llama_library
from memory_node.llm.llama.sampling import Grammar
from memory_node.llm.llama.vector_tokens import Vectors
from memory_node.llm.llama.vocabulary import Vocabulary

# Tokens that one pass reads; no deadline ends a pass.
PASS_TOKENS = 63
_MOST_THREADS = 8
_PLAIN_ATTENTION = 0
_FLOAT32 = 0  # ggml_type

# A row of a pass: token, position, the sequences that it belongs to, whether its logits are wanted.
Row = tuple[int, int, tuple[int, ...], bool]


class NativeModel:
    """One model with one attention memory, whose sequences share `window_tokens` cells.

    Args:
        path: the GGUF file.
        window_tokens: tokens that the memory holds; cut to what the model was trained for.
        sequences: how many sequences there can be.
        threads: 0: one for each core that this process may use, at most 8.
        weights: a GGUF file with other weights of the same model, which are computed with; None: the model's own.

    Raises:
        ModelMissingError: the library or the file is missing, or the file is no model that llama.cpp reads.
    """

    def __init__(
        self, path: Path, window_tokens: int, sequences: int, threads: int = 0, weights: Path | None = None
    ) -> None:
        self._library = llama_library()
        self.path = path
        self._model = self._loaded(weights or path)
        self.trained_tokens: int = self._library.llama_model_n_ctx_train(self._model)
        self._context = self._opened(min(window_tokens, self.trained_tokens), sequences, threads)
        self._memory: Pointer = self._library.llama_get_memory(self._context)
        self.window_tokens: int = self._library.llama_n_ctx(self._context)
        self.vocabulary = Vocabulary(self._library, self._model)
        self._adapters: dict[str, Pointer] = {}
        self._used: tuple[str, ...] = ()
        self.width: int = self._library.llama_model_n_embd(self._model)
        self._batch = self._library.llama_batch_init(PASS_TOKENS, 0, sequences)
        self._vector_batch = self._library.llama_batch_init(PASS_TOKENS, self.width, sequences)

    def _loaded(self, path: Path) -> Pointer:
        if not path.is_file():
            raise ModelMissingError(f"{path} is no file; model_path names a GGUF file")
        model = self._library.llama_model_load_from_file(os.fsencode(path), self._library.llama_model_default_params())
        if not model:
            raise ModelMissingError(f"{path} is no model that llama.cpp can read")
        if self._library.llama_model_has_encoder(model) or self._library.llama_model_is_recurrent(model):
            # Their memory cannot be cut back to a beginning, or shared between candidates.
            raise ModelMissingError(f"{path} is no decoder with attention; only those are supported")
        return model

    def _opened(self, window_tokens: int, sequences: int, threads: int) -> Pointer:
        params: ContextParams = self._library.llama_context_default_params()
        params.n_ctx = window_tokens
        params.n_batch = params.n_ubatch = PASS_TOKENS
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = threads or min(len(os.sched_getaffinity(0)), _MOST_THREADS)
        # On a processor matrix products read a prompt faster than llama.cpp's flash attention does. Values in 32 bits:
        # in 16 the likelihoods would depend on how many tokens a pass reads.
        params.flash_attn_type = _PLAIN_ATTENTION
        params.type_v = _FLOAT32
        params.kv_unified = True  # candidates share the cells of their prompt
        context = self._library.llama_init_from_model(self._model, params)
        if not context:
            raise ModelMissingError(f"no memory for {window_tokens} tokens of {self.path}")
        return context

    @property
    def description(self) -> str:
        """Architecture, size and kind of weights in a few words."""
        buffer = ctypes.create_string_buffer(256)
        self._library.llama_model_desc(self._model, buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace")

    @property
    def title(self) -> str:
        """The name that the file gives the model, else the file's."""
        return self._text_of("general.name") or self.path.stem

    @property
    def parameters(self) -> int:
        """How many weights it has."""
        return int(self._library.llama_model_n_params(self._model))

    @property
    def chat_template(self) -> str:
        """The template in the file, "" for none."""
        source = self._library.llama_model_chat_template(self._model, None)
        return source.decode("utf-8", "replace") if source else ""

    def _text_of(self, key: str) -> str:
        buffer = ctypes.create_string_buffer(1024)
        count = self._library.llama_model_meta_val_str(self._model, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if count > 0 else ""

    def grammar(self, text: str) -> Grammar:
        """Return a grammar for this model's tokens; see Grammar."""
        return Grammar(self._library, self.vocabulary, text)

    def use_adapters(self, *paths: str) -> None:
        """Compute with these LoRA adapters from now on, "" for none. Each is loaded once.

        Raises:
            ModelMissingError: a file is no adapter for this model.
        """
        wanted = tuple(path for path in paths if path)
        if wanted == self._used:
            return
        count = len(wanted)
        adapters = (Pointer * count)(*map(self._adapter, wanted))
        scales = (ctypes.c_float * count)(*[1.0] * count)
        if self._library.llama_set_adapters_lora(self._context, adapters, count, scales):
            raise ModelMissingError(f"llama.cpp refuses the adapters {', '.join(wanted)}")
        self._used = wanted

    def _adapter(self, path: str) -> Pointer:
        if path not in self._adapters:
            adapter = self._library.llama_adapter_lora_init(self._model, os.fsencode(path))
            if not adapter:
                raise ModelMissingError(f"{path} is no LoRA adapter (GGUF) for {self.path.name}")
            self._adapters[path] = adapter
        return self._adapters[path]

    def cut(self, sequence: int, start: int) -> None:
        """Take everything from position `start` on out of a sequence."""
        self._library.llama_memory_seq_rm(self._memory, sequence, start, -1)

    def share(self, source: int, target: int, end: int) -> None:
        """Let the first `end` positions of `source` belong to `target`, too."""
        self._library.llama_memory_seq_cp(self._memory, source, target, 0, end)

    def saved(self, sequence: int) -> NDArray[np.uint8]:
        """Return what the memory holds of a sequence."""
        state = np.empty(self._library.llama_state_seq_get_size(self._context, sequence), dtype=np.uint8)
        size = self._library.llama_state_seq_get_data(self._context, state.ctypes.data, state.size, sequence)
        return state[:size]

    def restore(self, sequence: int, state: NDArray[np.uint8]) -> None:
        """Put what was saved of a sequence into an empty one.

        Raises:
            LlmError: llama.cpp cannot.
        """
        if not self._library.llama_state_seq_set_data(self._context, state.ctypes.data, state.size, sequence):
            raise LlmError(f"llama.cpp cannot take back {state.size} bytes of a prompt")

    def clear(self) -> None:
        """Empty the memory."""
        self._library.llama_memory_clear(self._memory, True)

    def compute(self, rows: Sequence[Row], vectors: Vectors | None = None) -> NDArray[np.float32]:
        """Read at most PASS_TOKENS rows into the memory; return (wanted, vocabulary) logits, valid until the next call.

        vectors: (rows, width) embeddings that are read instead of the rows' tokens.

        Raises:
            LlmError: llama.cpp cannot; the memory is in no known state then.
        """
        batch = self._batch if vectors is None else self._vector_batch
        batch.n_tokens = len(rows)
        if vectors is not None:
            np.ctypeslib.as_array(batch.embd, (PASS_TOKENS, self.width))[: len(rows)] = vectors
        for index, (token, position, sequences, wanted) in enumerate(rows):
            if vectors is None:
                batch.token[index] = token
            batch.pos[index] = position
            batch.n_seq_id[index] = len(sequences)
            for place, sequence in enumerate(sequences):
                batch.seq_id[index][place] = sequence
            batch.logits[index] = wanted
        outcome = self._library.llama_decode(self._context, batch)
        if outcome:
            raise LlmError(f"llama.cpp cannot read {len(rows)} tokens (llama_decode: {outcome})")
        return self._logits(index for index, row in enumerate(rows) if row[3])

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

    def _logits(self, indices: Iterable[int]) -> NDArray[np.float32]:
        shape = (self.vocabulary.size,)
        rows = [np.ctypeslib.as_array(self._library.llama_get_logits_ith(self._context, i), shape) for i in indices]
        if len(rows) == 1:
            return rows[0][None, :]
        return np.stack(rows) if rows else np.empty((0, *shape), dtype=np.float32)

    def close(self) -> None:
        """Free everything; again does nothing."""
        if self._context:
            self._library.llama_batch_free(self._batch)
            self._library.llama_batch_free(self._vector_batch)
            self._library.llama_free(self._context)
            self._library.llama_model_free(self._model)  # its adapters go with it
            self._context = self._model = Pointer()
