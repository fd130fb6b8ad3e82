"""The policy that is trained: a causal model with an adapter; it writes replies and says how likely it finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from memory_node.llm.chat import Message
from training.adapters.example import Speller
from training.adapters.text_model import decoder, scores


@dataclass(frozen=True)
class Sampled:
    """A reply that was sampled. prompt, tokens: of the dialogue and of the reply; log_likelihoods: of each token of the
    reply, by the policy that wrote it, at the temperature of sampling."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    log_likelihoods: tuple[float, ...]
    text: str


class Policy:
    """model: a causal or image-text Hugging Face model; its free weights are the adapter. most_tokens: of a reply.

    The weights with which it was made are the reference that the KL divergence is taken to.
    """

    def __init__(self, model: Any, tokens: Speller, most_tokens: int = 256, temperature: float = 1.0) -> None:
        self.model = model
        self.tokens = tokens
        self.temperature = temperature
        self._most_tokens = most_tokens
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

    @torch.no_grad()
    def sample(self, messages: Sequence[Message], count: int, seed: int, greedy: bool = False) -> list[Sampled]:
        """Return `count` replies to a dialogue, the same for the same seed and weights."""
        self.model.eval()
        generator = torch.Generator("cpu").manual_seed(seed)
        prompt = self.tokens.prompt(messages)
        read = self.model(torch.tensor([prompt]), use_cache=True)
        cache = read.past_key_values
        cache.batch_repeat_interleave(count)
        logits = read.logits[:, -1].expand(count, -1)
        written: list[list[int]] = [[] for _ in range(count)]
        likelihoods: list[list[float]] = [[] for _ in range(count)]
        open_replies = set(range(count))
        for _ in range(self._most_tokens):
            scores = torch.log_softmax(logits.float() / self.temperature, dim=-1).cpu()
            chosen = scores.argmax(-1) if greedy else torch.multinomial(scores.exp(), 1, generator=generator)[:, 0]
            for row in tuple(open_replies):
                token = int(chosen[row])
                written[row].append(token)
                likelihoods[row].append(float(scores[row, token]))
                if token == self.tokens.end:
                    open_replies.discard(row)
            if not open_replies:
                break
            read = self.model(chosen[:, None].to(logits.device), past_key_values=cache, use_cache=True)
            cache, logits = read.past_key_values, read.logits[:, -1]
        return [
            Sampled(tuple(prompt), tuple(tokens), tuple(likely), self.tokens.text(tokens))
            for tokens, likely in zip(written, likelihoods)
        ]

    def log_likelihoods(self, replies: Sequence[Sampled]) -> list[Tensor]:
        """Return the log-likelihood of each token of each reply to one dialogue, each (len(tokens),), with gradients.

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
            likely = torch.log_softmax(scores(self.model, states[before]).float() / self.temperature, dim=-1)
            found.append(likely[torch.arange(length), torch.tensor(reply.tokens)])
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
