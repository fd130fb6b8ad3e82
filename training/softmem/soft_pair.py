"""A compiler, its soft memory and a frozen executor: what is trained together, and its loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from memory_node.llm.chat import Message
from training.adapters.example import Tokenizer
from training.compiler.teacher import CompilerPair
from training.softmem.soft_memory import (
    Gaussian,
    SoftMemory,
    chunk_means,
    entropy_loss,
    latent_loss,
    orthogonality_loss,
)

# Weights of the losses beside L_action + L_text, as in the paper.
ENTROPY, LATENT, ORTHOGONALITY = 0.1, 1.0, 0.1


@dataclass(frozen=True)
class SoftExample:
    """One step. prompt, reply: of the compiler. before, after: of the executor's prompt, with the latent tokens between
    them. guidance: the advice alone, action: the right command. All are tokens."""

    prompt: tuple[int, ...]
    reply: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    guidance: tuple[int, ...]
    action: tuple[int, ...]


@dataclass(frozen=True)
class Losses:
    """The parts of the loss of one example."""

    action: Tensor
    text: Tensor
    entropy: Tensor
    latent: Tensor
    orthogonality: Tensor

    @property
    def total(self) -> Tensor:
        """L = L_action + L_text + 0.1 L_entropy + 1.0 L_latent + 0.1 L_orth."""
        beside = ENTROPY * self.entropy + LATENT * self.latent + ORTHOGONALITY * self.orthogonality
        return self.action + self.text + beside


class SoftPair(nn.Module):
    """compiler: a causal model, perhaps with free adapters; executor: another one, whose weights are frozen here.

    placeholder: the token that stands for each latent token behind the compiler's reply ([UNK]).
    smoothing: of the labels of text and action.
    """

    def __init__(
        self, compiler: Any, executor: Any, soft: SoftMemory, placeholder: int = 0, smoothing: float = 0.1
    ) -> None:
        super().__init__()
        self.compiler, self.executor, self.soft = compiler, executor, soft
        self._placeholder = placeholder
        self._smoothing = smoothing
        for weight in executor.parameters():
            weight.requires_grad_(False)

    def read(self, prompt: Sequence[int], reply: Sequence[int]) -> tuple[Tensor, Tensor, Gaussian]:
        """Return what the compiler makes of a prompt and its reply.

        The logits of the reply's tokens (reply, vocabulary), the states of the reply and of the placeholders behind
        it (reply + N, width), and the latent tokens.
        """
        tokens = torch.tensor([[*prompt, *reply, *[self._placeholder] * self.soft.tokens]])
        inner = _inner(self.compiler)
        states = inner.model(tokens).last_hidden_state[0]
        logits = inner.lm_head(states[len(prompt) - 1 : len(prompt) + len(reply) - 1])
        return logits, states[len(prompt) :], self.soft(states[len(prompt) + len(reply) :])

    def action_logits(self, before: Sequence[int], soft: Tensor, after: Sequence[int], action: Sequence[int]) -> Tensor:
        """Return the executor's logits of an action's tokens behind a prompt with latent tokens in it."""
        inner = _inner(self.executor)
        embed = inner.get_input_embeddings()
        parts = (embed(torch.tensor(before)), soft, embed(torch.tensor([*after, *action[:-1]])))
        states = inner.model(inputs_embeds=torch.cat(parts).unsqueeze(0)).last_hidden_state[0]
        return torch.as_tensor(inner.lm_head(states[-len(action) :]))

    def losses(self, example: SoftExample, generator: torch.Generator | None = None) -> Losses:
        """Return the losses of one example; L_action reaches f_phi and the compiler through the frozen executor."""
        logits, states, latent = self.read(example.prompt, example.reply)
        soft = latent.sample(generator)
        acted = self.action_logits(example.before, soft, example.after, example.action)
        said = _inner(self.executor).get_input_embeddings()(torch.tensor(example.guidance))
        text, behind = states[: len(example.reply)], states[len(example.reply) :]
        return Losses(
            self._cross_entropy(acted, example.action),
            self._cross_entropy(logits, example.reply),
            entropy_loss(latent),
            latent_loss(latent, chunk_means(said, self.soft.tokens)),
            orthogonality_loss(behind, text),
        )

    def _cross_entropy(self, logits: Tensor, tokens: Sequence[int]) -> Tensor:
        return nn.functional.cross_entropy(logits, torch.tensor(tokens), label_smoothing=self._smoothing)


def soft_example(pair: CompilerPair, tokenizer: Tokenizer, most_tokens: int) -> SoftExample | None:
    """Return a pair as an example; None where it does not say what the executor was told, or is too long."""
    if not pair.executor or not pair.action:
        return None
    before, after = around_latent(pair.executor, tokenizer)
    prompt, reply = tokenizer.prompt(pair.messages), tokenizer.reply(pair.reply)
    if max(len(prompt) + len(reply), len(before) + len(after)) > most_tokens:
        return None
    action = tokenizer.reply(pair.action)
    return SoftExample(tuple(prompt), tuple(reply), before, after, tuple(action[:-1]), tuple(action))


def around_latent(dialogue: Sequence[Message], tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return an executor's prompt in two parts: latent tokens stand at the end of what was said last."""
    *before, last = dialogue
    tokens = tokenizer.prompt(dialogue)
    # What follows the text is what two prompts share that end in different words.
    one, other = (tokenizer.prompt([*before, Message(last.role, f"{last.text} {word}")]) for word in ("one", "other"))
    shared = 0
    while one[-1 - shared] == other[-1 - shared]:
        shared += 1
    at = len(tokens) - shared
    return tuple(tokens[:at]), tuple(tokens[at:])


def _inner(model: Any) -> Any:
    return model.get_base_model() if hasattr(model, "get_base_model") else model
