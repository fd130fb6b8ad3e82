"""Reads prompts with one GGUF model and one adapter for all who ask for likelihoods or inner states."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.chat import Deadline, LateError, TooLongError
from memory_node.llm.llama.chat_template import ChatTemplate
from memory_node.llm.llama.native import EVERY, PASS_TOKENS, NativeModel, Row
from memory_node.llm.llama.vector_tokens import Vectors, passes

PROMPT = 0  # the sequence that prompts are read into
FIRST_FREE = PROMPT + 1
FREE_SEQUENCES = 60


@dataclass(frozen=True)
class Prompt:
    """What is read. vectors: the embedding (width,) that each number below 0 among the tokens stands for."""

    tokens: tuple[int, ...]
    vectors: Mapping[int, Vectors] = field(default_factory=dict)


class LlamaEngine:
    """A loaded model; thread-safe. Who waits for it gives up at the deadline.

    The last prompt is kept: the beginning that the next one shares with it is not read again.

    Args:
        path: the GGUF file.
        window_tokens: tokens of the longest prompt with what follows it.
        threads: that compute.
        adapter: path of a LoRA adapter, "" for none.

    Raises:
        ModelMissingError: see NativeModel.
    """

    def __init__(self, path: Path, window_tokens: int, threads: int, adapter: str = "") -> None:
        self.native = NativeModel(path, window_tokens, FIRST_FREE + FREE_SEQUENCES, threads, adapter)
        self.template = ChatTemplate(self.native.chat_template, self.native.vocabulary)
        self._kept: list[int] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def behind(self, prompt: Prompt, room: int, deadline: Deadline) -> Iterator[NDArray[np.float32]]:
        """Read a prompt and give the logits (vocabulary,) behind it. Until the end nobody else has the model.

        The caller may read up to `room` tokens behind the prompt, in its sequence and in free ones, which it cuts.

        Raises:
            LateError: the deadline passed. TooLongError: they do not fit the window.
        """
        if len(prompt.tokens) + room > self.native.window_tokens:
            window = self.native.window_tokens
            raise TooLongError(f"a prompt of {len(prompt.tokens)} tokens and {room} behind it; the window has {window}")
        if not self._lock.acquire(timeout=deadline.left_s()):
            raise LateError(f"the model was busy with other requests for {deadline.seconds:g} s")
        try:
            yield self._read(prompt, deadline)
            self.native.cut(PROMPT, len(prompt.tokens))
        except BaseException:
            # After a pass that failed or was interrupted nobody knows what the memory holds.
            self._forget()
            raise
        finally:
            self._lock.release()

    def states(self, prompt: Prompt, vectors: Vectors, deadline: Deadline) -> Vectors:
        """Return the last layer's states (n, width) of vectors (n, width) behind a prompt; at most PASS_TOKENS.

        Raises:
            LateError: the deadline passed. TooLongError: they do not fit the window.
        """
        with self.behind(prompt, len(vectors), deadline):
            first = len(prompt.tokens)
            return self.native.states([(0, first + index, (PROMPT,), True) for index in range(len(vectors))], vectors)

    def forget(self) -> None:
        """Forget the prompt that was read last."""
        with self._lock:
            self._forget()

    def close(self) -> None:
        """Free the model; nothing can be asked afterwards."""
        with self._lock:
            self.native.close()

    def _forget(self) -> None:
        self.native.cut(EVERY, 0)
        self._kept = []

    def _read(self, prompt: Prompt, deadline: Deadline) -> NDArray[np.float32]:
        """Read what is not known of a prompt, its last token in any case; return the logits behind it.

        It is read in the same passes whatever is known: llama.cpp computes wide and narrow passes a little differently.
        """
        limit = min(len(self._kept), len(prompt.tokens) - 1)
        known = next((at for at in range(limit) if self._kept[at] != prompt.tokens[at]), max(limit, 0))
        logits, end = np.empty((1, 0), dtype=np.float32), 0
        for part in passes(prompt.tokens, PASS_TOKENS):
            start, end = end, end + len(part)
            if end <= known:
                continue
            deadline.left_s()
            self.native.cut(PROMPT, start)
            del self._kept[start:]
            rows: list[Row] = [(token, start + i, (PROMPT,), False) for i, token in enumerate(part)]
            rows[-1] = (*rows[-1][:3], end == len(prompt.tokens))
            vectors = np.stack([prompt.vectors[token] for token in part]) if part[0] < 0 else None
            logits = self.native.compute(rows, vectors)
            self._kept += part
        return logits[0]
