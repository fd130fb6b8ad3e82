"""Chooses the next token of a reply that learning needs token by token: the likeliest, or by chance, in a grammar."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import BrokenReplyError, Deadline
from memory_node.llm.llama.engine import PROMPT, LlamaEngine, Prompt
from memory_node.llm.llama.native import Pointer, Vocabulary, llama_library

_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama_token_data
_FIRST_LOOK = 64


class _TokenDataArray(ctypes.Structure):
    """struct llama_token_data_array."""

    _fields_ = (("data", Pointer), ("size", ctypes.c_size_t), ("selected", ctypes.c_int64), ("sorted", ctypes.c_bool))


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen. grammar: GBNF that the reply keeps to, "" for none."""

    temperature: float
    random: np.random.Generator
    grammar: str = ""


class Grammar:
    """A GBNF grammar and how far a reply has followed it; `close` frees it.

    Raises:
        InvalidValueError: llama.cpp cannot read the grammar.
    """

    def __init__(self, vocabulary: Vocabulary, text: str) -> None:
        self._library = llama_library()
        self._library.llama_sampler_init_grammar.restype = Pointer
        made = self._library.llama_sampler_init_grammar(vocabulary.pointer, text.encode("utf-8", "replace"), b"root")
        if not made:
            raise InvalidValueError(f"llama.cpp cannot read this grammar:\n{text[:400]}")
        self._pointer = Pointer(made)

    def allows(self, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these tokens may come next."""
        rows = np.zeros(len(tokens), dtype=_TOKEN_DATA)
        rows["id"] = tokens
        candidates = _TokenDataArray(rows.ctypes.data, len(rows), -1, False)
        self._library.llama_sampler_apply(self._pointer, ctypes.byref(candidates))
        return np.isfinite(rows["logit"])

    def follow(self, token: int) -> None:
        """Go on with a token that it allows."""
        self._library.llama_sampler_accept(self._pointer, token)

    def close(self) -> None:
        """Free it; again does nothing."""
        if self._pointer:
            self._library.llama_sampler_free(self._pointer)
            self._pointer = Pointer()


class TokenChoice:
    """Chooses tokens one after the other.

    By chance, a token is drawn with probability proportional to exp(logit / temperature) among those allowed: the
    greatest of logit / temperature + Gumbel noise is such a draw (Maddison et al. 2014), and the greatest allowed one
    is a draw among the allowed.
    """

    def __init__(self, temperature: float, random: np.random.Generator, grammar: Grammar | None = None) -> None:
        self._temperature = temperature
        self._random = random
        self._grammar = grammar

    def next(self, logits: NDArray[np.float32]) -> int:
        """Return the next token; logits: (vocabulary,).

        Raises:
            BrokenReplyError: the grammar allows none.
        """
        weights = logits
        if self._temperature > 0.0:
            noise = self._random.gumbel(size=len(logits)).astype(np.float32)
            weights = logits / np.float32(self._temperature) + noise
        best = int(weights.argmax())
        if self._grammar is None:
            return best
        # A grammar looks at tokens one by one, so the likeliest are tried first.
        looks = (
            lambda: np.array([best]),
            lambda: np.argpartition(weights, -_FIRST_LOOK)[-_FIRST_LOOK:],
            lambda: np.arange(len(weights)),
        )
        for look in looks:
            tokens = look()
            allowed = tokens[self._grammar.allows(tokens.astype(np.int32))]
            if len(allowed):
                return int(allowed[weights[allowed].argmax()])
        raise BrokenReplyError("the grammar allows no token that the model has")

    def follow(self, token: int) -> None:
        """Take note that a token was written."""
        if self._grammar is not None:
            self._grammar.follow(token)


def written(
    engine: LlamaEngine, prompt: Prompt, most_tokens: int, choice: TokenChoice, deadline: Deadline
) -> tuple[tuple[int, ...], bool]:
    """Return a reply's tokens, at most `most_tokens`, and whether the model ended its turn.

    Raises:
        LateError: the deadline passed. TooLongError: prompt and reply do not fit the window.
    """
    said: list[int] = []
    ends: Callable[[int], bool] = engine.native.vocabulary.ends
    with engine.behind(prompt, most_tokens, deadline) as logits:
        while len(said) < most_tokens:
            deadline.left_s()
            token = choice.next(logits)
            if ends(token):
                return tuple(said), True
            choice.follow(token)
            row = (token, len(prompt.tokens) + len(said), (PROMPT,), True)
            said.append(token)
            logits = engine.native.compute([row])[0]
    return tuple(said), False
