"""Dialogues as tokens and back, as the model in the robot's process reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memory_node.llm.chat import Message
from memory_node.llm.llama.shared_model import LlamaEngine
from training.adapters.example import ModelTokens


class DialogueTokens(Protocol):
    """A tokenizer of dialogues. end: the token that ends a reply."""

    @property
    def end(self) -> int:
        """The token that ends a reply."""

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Return a dialogue up to where the model's turn begins."""

    def reply(self, text: str) -> list[int]:
        """Return what the model says, and the end of its turn."""

    def text(self, tokens: Sequence[int]) -> str:
        """Return what some tokens of a reply say, without its end."""


class EngineTokens(ModelTokens):
    """The tokens of the model in this process."""

    def __init__(self, engine: LlamaEngine) -> None:
        super().__init__(engine)
        self._vocabulary = engine.native.vocabulary
        self._ending = engine.template.end

    @property
    def end(self) -> int:
        """The token that ends a reply."""
        return self._ending

    def text(self, tokens: Sequence[int]) -> str:
        """Return what some tokens say; bytes that are no UTF-8 are replaced."""
        pieces = (self._vocabulary.piece(token) for token in tokens if token != self._ending)
        return b"".join(pieces).decode("utf-8", errors="replace")
