"""Chooses the next token: the likeliest, or by chance, and only such as a grammar allows."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.errors import BrokenReplyError
from memory_node.llm.llama.library import Pointer, TokenData, TokenDataArray
from memory_node.llm.llama.vocabulary import Vocabulary

_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
_FIRST_LOOK = 64


class Grammar:
    """A GBNF grammar and how far a reply has followed it; `close` frees it.

    Raises:
        InvalidValueError: llama.cpp cannot read the grammar.
    """

    def __init__(self, library: ctypes.CDLL, vocabulary: Vocabulary, text: str) -> None:
        self._library = library
        self._pointer: Pointer | None = library.llama_sampler_init_grammar(
            vocabulary.pointer, text.encode("utf-8", "replace"), b"root"
        )
        if not self._pointer:
            raise InvalidValueError(f"llama.cpp cannot read this grammar:\n{text[:400]}")

    def allows(self, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these tokens may come next."""
        rows = np.zeros(len(tokens), dtype=_TOKEN_DATA)
        rows["id"] = tokens
        pointer = rows.ctypes.data_as(ctypes.POINTER(TokenData))
        candidates = TokenDataArray(pointer, len(rows), -1, False)
        self._library.llama_sampler_apply(self._pointer, ctypes.byref(candidates))
        return np.isfinite(rows["logit"])

    def follow(self, token: int) -> None:
        """Go on with a token that it allows."""
        self._library.llama_sampler_accept(self._pointer, token)

    def close(self) -> None:
        """Free it."""
        if self._pointer:
            self._library.llama_sampler_free(self._pointer)
        self._pointer = None


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
