"""What an adapter learns from: a dialogue's tokens, and which of them the model is to say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_node.llm.chat import Message


class Tokenizer(Protocol):
    """Dialogues as a model's tokens."""

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Return a dialogue up to where the model's turn begins."""

    def reply(self, text: str) -> list[int]:
        """Return what the model says, and the end of its turn."""


class Speller(Tokenizer, Protocol):
    """A Tokenizer that also writes tokens as text."""

    @property
    def end(self) -> int:
        """The token that ends a turn of the model."""

    def text(self, tokens: Sequence[int]) -> str:
        """Return what tokens of a reply say, its end nothing."""


@dataclass(frozen=True)
class Example:
    """One dialogue. tokens: all of it; learnt: which of them the model is to say, and so are part of the loss."""

    tokens: tuple[int, ...]
    learnt: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.learnt):
            raise ValueError(f"Example: {len(self.tokens)} tokens with {len(self.learnt)} marks")


def answered(messages: Sequence[Message], reply: str, tokenizer: Tokenizer, most_tokens: int) -> Example | None:
    """Return one question with its reply; None where it is longer than `most_tokens`."""
    prompt, said = tokenizer.prompt(messages), tokenizer.reply(reply)
    if len(prompt) + len(said) > most_tokens:
        return None
    return Example((*prompt, *said), (False,) * len(prompt) + (True,) * len(said))


def grown(
    turns: Iterable[tuple[Sequence[Message], str, bool]], tokenizer: Tokenizer, most_tokens: int
) -> Example | None:
    """Return a dialogue that only grows as one sequence, cut after its last whole reply within `most_tokens`.

    turns: what the model is told, what it says then, and whether that is learnt. None where nothing learnt fits.

    Raises:
        ValueError: the chat template changes what was said before.
    """
    tokens: list[int] = []
    learnt: list[bool] = []
    for messages, reply, right in turns:
        prompt, said = tokenizer.prompt(messages), tokenizer.reply(reply)
        if prompt[: len(tokens)] != tokens:
            raise ValueError("the chat template changes what was said before: its dialogues cannot be learnt as one")
        if len(prompt) + len(said) > most_tokens:
            break
        learnt += [False] * (len(prompt) - len(tokens)) + [right] * len(said)
        tokens = [*prompt, *said]
    return Example(tuple(tokens), tuple(learnt)) if any(learnt) else None
