"""A model's own tokens: what is trained on is what is read on the robot, or by the server that runs the model there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from memory_node.llm.chat import Message
from memory_node.llm.llama.engine import ChatTemplate, TemplateVocabulary


class SpellingVocabulary(TemplateVocabulary, Protocol):
    """A model's tokenizer that also writes tokens as text."""

    def text(self, tokens: Iterable[int]) -> str:
        """Return what tokens say, control tokens nothing."""


class ModelTokens:
    """A Speller of a model: its chat template over its vocabulary."""

    def __init__(self, template: ChatTemplate, vocabulary: SpellingVocabulary) -> None:
        self._template = template
        self._vocabulary = vocabulary

    @property
    def end(self) -> int:
        """The token that ends a turn of the model."""
        return self._template.end

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Return a dialogue up to where the model's turn begins."""
        return self._template.tokens(messages)

    def reply(self, text: str) -> list[int]:
        """Return what the model says, and the end of its turn."""
        return [*self._vocabulary.tokens(text), self.end]

    def text(self, tokens: Sequence[int]) -> str:
        """Return what tokens of a reply say, its end nothing."""
        return self._vocabulary.text(token for token in tokens if token != self.end)
