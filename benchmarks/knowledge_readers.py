"""Readers that choose an answer among candidates by a memory: by rules, and a language model by its likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.likelihood import LlamaScores
from memory_node.domain.context import estimate_tokens
from memory_node.knowledge.text import plain_words, sentences, stems
from memory_node.llm.chat import Deadline, Message

_SYSTEM = "You answer a question in as few words as possible. Use what is known."
# How much the best supported candidate stands out (softmax): with all of the question's words beside it, one of ten
# candidates has a probability of 0.86.
_SHARPNESS = 4.0
# A candidate that is named counts so much, and as much as this again when all of the question's words are beside it.
_NAMED = 0.5


class Reader(Protocol):
    """Reads a memory."""

    @property
    def name(self) -> str:
        """As rows show it."""

    def count_tokens(self, text: str) -> int:
        """Return how long a text is."""

    def probabilities(self, question: str, memory: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return (candidates,) how probable each answer is; the sum is 1. An empty memory: from the question alone."""


class RuleReader:
    """A stand-in for a language model: a candidate is likely that a sentence names beside the question's words.

    Without a memory every candidate is as likely as another. It knows nothing of yes and no.
    """

    name = "rules"

    def count_tokens(self, text: str) -> int:
        """Return an estimate."""
        return estimate_tokens(text)

    def probabilities(self, question: str, memory: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return (candidates,) probabilities."""
        asked = set(stems(question))
        held = [set(stems(sentence)) for statement in memory for sentence in sentences(statement)]
        support = [max((_support(asked, candidate, words) for words in held), default=0.0) for candidate in candidates]
        return _softmax(_SHARPNESS * np.array(support))


class ModelReader:
    """The normalised likelihood of candidates as a language model's reply. timeout_s: for one question."""

    def __init__(self, model: LlamaScores, timeout_s: float = 120.0) -> None:
        self._model = model
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def count_tokens(self, text: str) -> int:
        """Return the model's tokens."""
        return self._model.count_tokens(text)

    def probabilities(self, question: str, memory: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return (candidates,) probabilities by the mean log-likelihood of a token, so that length does not count.

        Raises:
            LlmError: they could not be computed.
        """
        known = "".join(f"- {statement}\n" for statement in memory)
        asked = f"Known:\n{known}\nQuestion: {question}" if known else f"Question: {question}"
        messages = (Message("system", _SYSTEM), Message("user", asked))
        scores = self._model.scores(messages, candidates, Deadline(self._timeout_s))
        return _softmax(np.array([score.mean for score in scores]))


def _support(asked: set[str], candidate: str, statement: set[str]) -> float:
    words = set(stems(candidate)) or set(plain_words(candidate))
    # What the question names itself is seldom its answer.
    if not words or not words <= statement or words <= asked:
        return 0.0
    others = asked - words
    return _NAMED * (1.0 + len(others & statement) / max(1, len(others)))


def _softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.exp(values - values.max())
    return np.asarray(shares / shares.sum())
