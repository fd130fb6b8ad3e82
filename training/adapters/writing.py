"""Replies that a model in training writes, by torch on any machine; llama_writer.py is faster on a processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from memory_node.llm.chat import Message
from training.adapters.example import Speller
from training.adapters.sampling import Sampling
from training.adapters.text_model import inner


@dataclass(frozen=True)
class Written:
    """A reply. prompt, tokens: of the dialogue, and of the reply with its end. whole: whether it came to its end.
    grammar: that the reply was held to, "" for none."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    text: str
    whole: bool
    grammar: str = ""


class Writer(Protocol):
    """Writes as a model does that learns."""

    def renew(self) -> None:
        """Write with the weights that the model has now."""

    def write(self, messages: Sequence[Message], count: int, sampling: Sampling) -> list[Written]:
        """Return `count` replies to a dialogue. sampling: its grammar is for writers that hold replies to a form."""

    def allowed(self, written: Written) -> Tensor | None:
        """Return which tokens might be said at each place of a reply, (tokens, vocabulary), None for all."""


class TorchWriter:
    """A Writer by torch. most_tokens: of a reply. Replies are held to no form."""

    def __init__(self, model: Any, speller: Speller, most_tokens: int) -> None:
        self._model = inner(model)
        self._speller = speller
        self._most_tokens = most_tokens

    def renew(self) -> None:
        """Do nothing: what writes is what is trained."""

    @torch.no_grad()
    def write(self, messages: Sequence[Message], count: int, sampling: Sampling) -> list[Written]:
        """Return replies to a dialogue, which is read once; see Writer."""
        self._model.eval()
        draws = torch.Generator("cpu").manual_seed(int(sampling.random.integers(2**31)))
        prompt = tuple(self._speller.prompt(messages))
        read = self._model(torch.tensor([prompt]), use_cache=True)
        cache = read.past_key_values
        cache.batch_repeat_interleave(count)
        logits = read.logits[:, -1].expand(count, -1)
        said: list[list[int]] = [[] for _ in range(count)]
        going_on = set(range(count))
        while True:
            chosen = _chosen(logits, sampling.temperature, draws)
            for row in tuple(going_on):
                said[row].append(int(chosen[row]))
                if said[row][-1] == self._speller.end or len(said[row]) >= self._most_tokens:
                    going_on.discard(row)
            if not going_on:
                return [self._written(prompt, tokens) for tokens in said]
            read = self._model(chosen[:, None].to(logits.device), past_key_values=cache, use_cache=True)
            cache, logits = read.past_key_values, read.logits[:, -1]

    def allowed(self, written: Written) -> None:
        """Return that every token might be said."""

    def _written(self, prompt: tuple[int, ...], tokens: Sequence[int]) -> Written:
        whole = tokens[-1] == self._speller.end
        return Written(prompt, tuple(tokens), self._speller.text(tokens), whole)


def log_probabilities(
    logits: Tensor, tokens: Sequence[int], temperature: float, allowed: Tensor | None = None
) -> Tensor:
    """Return the log-probabilities (tokens,) with which tokens are drawn by their logits (tokens, vocabulary).

    temperature: 0 counts as 1. allowed: which tokens might be said at each place, (tokens, vocabulary), None for all.
    """
    spread = logits / temperature if temperature else logits
    own = spread.gather(1, torch.tensor(tokens).unsqueeze(1))[:, 0]
    may = spread if allowed is None else spread.masked_fill(~allowed.to(spread.device), float("-inf"))
    return own - may.logsumexp(-1)


def _chosen(logits: Tensor, temperature: float, draws: torch.Generator) -> Tensor:
    """Return a token for each row of logits (rows, vocabulary)."""
    if not temperature:
        return logits.argmax(-1).cpu()
    chances = (logits.float() / temperature).softmax(-1).cpu()
    return torch.multinomial(chances, 1, generator=draws)[:, 0]
