"""The policy that is trained: a causal model with an adapter; it writes replies and says how likely it finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from memory_node.llm.chat import Message
from memory_node.llm.llama.shared_model import Sampling
from training.adapters.example import Speller
from training.adapters.text_model import decoder, scores
from training.adapters.writing import Writer, Written, log_probabilities


class Policy:
    """model: a causal or image-text Hugging Face model; its free weights are the adapter. writer: of that model.

    The weights with which it was made are the reference that the KL divergence is taken to.
    """

    def __init__(self, model: Any, tokens: Speller, writer: Writer, temperature: float = 1.0) -> None:
        self.model = model
        self.tokens = tokens
        self.temperature = temperature
        self._writer = writer
        self._reference = {name: weight.detach().clone() for name, weight in self.free()}

    def free(self) -> list[tuple[str, Any]]:
        """Return the weights that are trained, by name."""
        return [(name, weight) for name, weight in self.model.named_parameters() if weight.requires_grad]

    def set_reference(self, weights: dict[str, Tensor]) -> None:
        """Take other weights for the reference: those that an interrupted run began with."""
        self._reference = {name: weight.clone() for name, weight in weights.items()}

    @property
    def reference(self) -> dict[str, Tensor]:
        """The weights of the reference."""
        return self._reference

    @contextmanager
    def as_reference(self) -> Iterator[None]:
        """Let the model be the reference for a while."""
        kept = {name: weight.detach().clone() for name, weight in self.free()}
        self._load(self._reference)
        try:
            yield
        finally:
            self._load(kept)

    def renew(self) -> None:
        """Write with the weights as they are now; for whoever has changed them."""
        self._writer.renew()

    def sample(
        self, messages: Sequence[Message], count: int, seed: int, grammar: str = "", greedy: bool = False
    ) -> list[Written]:
        """Return `count` replies to a dialogue, the same for the same seed and weights. grammar: see Writer."""
        sampling = Sampling(0.0 if greedy else self.temperature, np.random.default_rng(seed), grammar)
        return self._writer.write(messages, count, sampling)

    def log_likelihoods(self, replies: Sequence[Written]) -> list[Tensor]:
        """Return the log-likelihood of each token of each reply to one dialogue, each (len(tokens),), with gradients,
        among the tokens that might be said there.

        The dialogue is read once: the replies stand behind it one after the other, and see it and themselves alone.
        """
        prompt = replies[0].prompt
        lengths = [len(reply.tokens) for reply in replies]
        whole = [*prompt, *(token for reply in replies for token in reply.tokens)]
        places = [*range(len(prompt)), *(len(prompt) + n for length in lengths for n in range(length))]
        states = decoder(self.model)(
            torch.tensor([whole]),
            attention_mask=_seen_by_each(len(prompt), lengths),
            position_ids=torch.tensor([places]),
            use_cache=False,
        ).last_hidden_state[0]
        found, start = [], len(prompt)
        for reply, length in zip(replies, lengths):
            before = torch.tensor([len(prompt) - 1, *range(start, start + length - 1)])
            logits, allowed = scores(self.model, states[before]).float(), self._writer.allowed(reply)
            found.append(log_probabilities(logits, reply.tokens, self.temperature, allowed))
            start += length
        return found

    def _load(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.free():
                weight.copy_(weights[name])


def _seen_by_each(prompt: int, lengths: Sequence[int]) -> Tensor:
    """Return the attention of a prompt with replies behind it, (1, 1, tokens, tokens): 0 where a token sees another
    one, -inf where not."""
    whole = prompt + sum(lengths)
    sees = torch.ones(whole, whole, dtype=torch.bool).tril()
    start = prompt
    for length in lengths:
        sees[start : start + length, prompt:start] = False
        start += length
    return torch.zeros(whole, whole).masked_fill(~sees, float("-inf"))[None, None]
