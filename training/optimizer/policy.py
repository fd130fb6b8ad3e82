"""The policy that is trained: a causal model with an adapter; it writes replies and says how likely it finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from memory_node.llm.chat import Message
from training.adapters.example import Speller
from training.adapters.sampling import Sampling
from training.adapters.text_model import decoder, scores
from training.adapters.token_tree import token_tree
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

    def allowed(self, replies: Sequence[Written]) -> list[Tensor | None]:
        """Return which tokens might be said at each place of some replies; see Writer."""
        return [self._writer.allowed(reply) for reply in replies]

    def log_likelihoods(self, replies: Sequence[Written], allowed: Sequence[Tensor | None]) -> list[Tensor]:
        """Return the log-likelihood of each token of each reply to one dialogue, each (len(tokens),), with gradients,
        among the tokens that might be said there. allowed: see `allowed`.

        What replies begin with alike is read once, as the dialogue is; each sees the dialogue and itself alone.
        """
        tree = token_tree(replies[0].prompt, [reply.tokens for reply in replies])
        states = decoder(self.model)(
            tree.tokens[None],
            attention_mask=tree.attention_mask,
            position_ids=tree.positions[None],
            use_cache=False,
        ).last_hidden_state[0]
        return [
            log_probabilities(scores(self.model, states[before]).float(), reply.tokens, self.temperature, may)
            for reply, before, may in zip(replies, tree.before, allowed, strict=True)
        ]

    def _load(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.free():
                weight.copy_(weights[name])
