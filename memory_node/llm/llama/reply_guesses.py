"""Reads ahead what a reply in a form will probably say, so that several of its tokens are read in one pass.

What is written stays the same: each token is chosen as ever, and what was guessed wrong is taken out of the memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.llama.native_model import NativeModel, Row
from memory_node.llm.llama.prefix_slots import Slot

_KEPT_REPLIES = 8
# Tokens that are compared to find where a text stood before.
_LONGEST_MATCH = 4
# A guess costs a quarter of a pass of its own. So little is guessed behind a single token that stood somewhere before,
# more where two or more did: half the passes of a compiler's replies are saved, and one row in four is read in vain.
_GUESSES_BEHIND_ONE = 2
_MOST_GUESSES = 6
_START = -1  # stands before a reply's first token


class ReplyGuesses:
    """Guesses how a reply goes on: as it did where its last tokens stood before, in the last replies or in its prompt
    (prompt lookup decoding, Saxena 2023)."""

    def __init__(self) -> None:
        self._replies: deque[list[int]] = deque(maxlen=_KEPT_REPLIES)

    def keep(self, reply: Sequence[int]) -> None:
        """Remember a reply."""
        self._replies.appendleft([_START, *reply])

    def behind(self, prompt: Sequence[int], said: Sequence[int]) -> Sequence[int]:
        """Return what may follow; nothing where nothing is known. said: the reply so far, one token at least."""
        told = [_START, *said]
        longest, found = 0, 0
        source: Sequence[int] = ()
        for text in (*self._replies, prompt):  # of matches of one length the one in the latest text counts
            for at in range(1, len(text)):
                if text[at - 1] == told[-1] and (length := _match(text, at, told)) > longest:
                    longest, found, source = length, at, text
            if longest == min(_LONGEST_MATCH, len(told)):
                break
        return source[found : found + (_MOST_GUESSES if longest > 1 else _GUESSES_BEHIND_ONE)] if longest else ()


def _match(text: Sequence[int], at: int, told: Sequence[int]) -> int:
    """Return how many tokens before `at` are the last ones that were told."""
    most = min(_LONGEST_MATCH, at, len(told))
    return next((n for n in range(most) if text[at - 1 - n] != told[-1 - n]), most)


class ReadAhead:
    """Reads a reply behind what a slot holds. `close` leaves there what was said, and no guess.

    guess: returns what may follow the reply so far. said: the reply so far.
    """

    def __init__(self, native: NativeModel, slot: Slot, guess: Callable[[Sequence[int]], Sequence[int]]) -> None:
        self._native = native
        self._slot = slot
        self._guess = guess
        self.said: list[int] = []
        self._guessed: list[int] = []
        self._known: list[NDArray[np.float32]] = []  # the logits behind each guess

    def behind(self, token: int) -> NDArray[np.float32]:
        """Return the logits (vocabulary,) behind the next token of the reply."""
        self.said.append(token)
        if self._guessed[:1] != [token]:
            self._read(token)
        self._slot.tokens.append(self._guessed.pop(0))
        return self._known.pop(0)

    def close(self) -> None:
        """Take guesses out of the memory."""
        if self._guessed:
            self._native.cut(self._slot.sequence, len(self._slot.tokens))
        self._guessed, self._known = [], []

    def _read(self, token: int) -> None:
        self.close()
        guessed = [token, *self._guess(self.said)]
        first, sequences = len(self._slot.tokens), (self._slot.sequence,)
        rows: list[Row] = [(one, first + i, sequences, True) for i, one in enumerate(guessed)]
        self._known = list(self._native.compute(rows))
        self._guessed = guessed
