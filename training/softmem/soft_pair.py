"""A compiler, its soft memory and a frozen executor: what is trained together, and its loss."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache

from memory_node.context.soft_memory import UNSAID
from memory_node.llm.llama.model import fitted
from training.adapters.text_model import decoder, inner, scores, width
from training.softmem.soft_example import SoftExample
from training.softmem.soft_memory import (
    Gaussian,
    SoftMemory,
    entropy_loss,
    latent_loss,
    orthogonality_loss,
)


class KeptPrompt:
    """The attention memory of a causal model behind its last prompt. Nothing of it gets gradients."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.forget()

    def forget(self) -> None:
        """Forget the prompt."""
        self._tokens: list[int] = []
        self._memory: Any = DynamicCache(config=self._model.config)
        self._states = torch.zeros(0, width(self._model))

    def behind(self, tokens: Sequence[int]) -> tuple[Any, Tensor]:
        """Read a prompt. Return a memory to go on from, and the last-layer states (tokens, width) of the prompt."""
        limit = min(len(tokens), len(self._tokens))
        shared = next((at for at in range(limit) if tokens[at] != self._tokens[at]), limit)
        if shared < len(self._tokens):
            self._memory.crop(shared - len(self._tokens))  # below 0: how many are taken out
        self._states = self._states[:shared]
        if shared < len(tokens):
            with torch.no_grad():
                read = torch.tensor([list(tokens[shared:])])
                out = decoder(self._model)(read, past_key_values=self._memory, use_cache=True)
            self._states = torch.cat((self._states, out.last_hidden_state[0]))
        self._tokens = list(tokens)
        return copy.deepcopy(self._memory), self._states


# Weights of the losses beside L_action + L_text, as in the paper.
ENTROPY, LATENT, ORTHOGONALITY = 0.1, 1.0, 0.1


@dataclass(frozen=True)
class Losses:
    """The parts of the loss of one example. orthogonality_weight: 0 for comparison, else as in the paper. latent: 0
    where the words leave nothing out, text: 0 where the compiler does not learn."""

    action: Tensor
    text: Tensor
    entropy: Tensor
    latent: Tensor
    orthogonality: Tensor
    orthogonality_weight: float = ORTHOGONALITY

    @property
    def total(self) -> Tensor:
        """L = L_action + L_text + 0.1 L_entropy + 1.0 L_latent + 0.1 L_orth."""
        beside = ENTROPY * self.entropy + LATENT * self.latent + self.orthogonality_weight * self.orthogonality
        return self.action + self.text + beside


@dataclass(frozen=True)
class ReadReply:
    """What a compiler makes of a prompt and its reply. logits: of the reply's tokens, (reply, vocabulary); None where
    the compiler does not learn. states: of the reply, (reply, width). behind: of the placeholders behind it, (N,
    width). latent: the latent tokens."""

    logits: Tensor | None
    states: Tensor
    behind: Tensor
    latent: Gaussian


class SoftPair(nn.Module):
    """A compiler with its soft memory, and the executor that reads it.

    Args:
        compiler: a causal model, perhaps with free adapters.
        executor: another one, whose weights are frozen here.
        soft: makes the latent tokens.
        smoothing: of the labels of text and action.
        orthogonality: the weight of L_orth.
        beside: another pair of the same models, so that both read a prompt once.
        neutral: the token that says nothing: it fills a wording that is shorter than N tokens.
        through_prompt: whether gradients reach the compiler's weights where it reads its prompt, too, and not only
            where it writes. Without, an example takes about a third of the time.
    """

    def __init__(
        self,
        compiler: Any,
        executor: Any,
        soft: SoftMemory,
        smoothing: float = 0.1,
        orthogonality: float = ORTHOGONALITY,
        beside: SoftPair | None = None,
        through_prompt: bool = True,
        neutral: int = 0,
    ) -> None:
        super().__init__()
        self.compiler, self.executor, self.soft = compiler, executor, soft
        self._smoothing = smoothing
        self._orthogonality = orthogonality
        self._through_prompt = through_prompt
        self._neutral = neutral
        for weight in executor.parameters():
            weight.requires_grad_(False)
        self._asked: KeptPrompt = beside._asked if beside is not None else KeptPrompt(inner(compiler))
        self._told: KeptPrompt = beside._told if beside is not None else KeptPrompt(inner(executor))

    @property
    def learns_text(self) -> bool:
        """Whether what the compiler says in words is trained."""
        return any(weight.requires_grad for weight in self.compiler.parameters())

    def read(
        self, prompt: Sequence[int], reply: Sequence[int], wording: Sequence[int], unsaid: Sequence[float] = ()
    ) -> ReadReply:
        """Return what the compiler makes of a prompt, its reply, and the wording of it behind it.

        unsaid: (UNSAID,), what the reply leaves out; () for nothing.
        """
        reads = decoder(self.compiler)
        left_out = torch.tensor(list(unsaid) or [0.0] * UNSAID)
        words = self.fitted(wording)
        if not self.learns_text:
            memory, states = self._asked.behind([*prompt, *reply])
            with torch.no_grad():
                reads(torch.tensor([words]), past_key_values=memory)
            placeholders = self.soft.placeholders.unsqueeze(0)
            behind = reads(inputs_embeds=placeholders, past_key_values=memory).last_hidden_state[0]
            return ReadReply(None, states[len(prompt) :], behind, self.soft(behind, left_out))
        # What writes the reply's first token stands at the prompt's last one.
        known = 0 if self._through_prompt else len(prompt) - 1
        memory = self._asked.behind(prompt[:known])[0] if known else None
        said = reads.get_input_embeddings()(torch.tensor([*prompt[known:], *reply, *words]))
        parts = torch.cat((said, self.soft.placeholders)).unsqueeze(0)
        read = reads(inputs_embeds=parts, past_key_values=memory)
        states = read.last_hidden_state[0, len(prompt) - 1 - known :]
        text, behind = states[1 : len(reply) + 1], states[len(reply) + len(words) + 1 :]
        return ReadReply(scores(self.compiler, states[: len(reply)]), text, behind, self.soft(behind, left_out))

    def forget(self) -> None:
        """Take note that the compiler's weights have changed: what it has read is read again."""
        self._asked.forget()

    def action_logits(self, before: Sequence[int], soft: Tensor, after: Sequence[int], action: Sequence[int]) -> Tensor:
        """Return the executor's logits of an action's tokens behind a prompt with latent tokens in it."""
        reads = decoder(self.executor)
        memory, _ = self._told.behind(before)
        following = reads.get_input_embeddings()(torch.tensor([*after, *action[:-1]]))
        parts = torch.cat((soft, following)).unsqueeze(0)
        states = reads(inputs_embeds=parts, past_key_values=memory).last_hidden_state[0]
        return scores(self.executor, states[-len(action) :])

    def losses(self, example: SoftExample) -> Losses:
        """Return the losses of one example; L_action reaches f_phi and the compiler through the frozen executor."""
        read = self.read(example.prompt, example.reply, example.wording, example.unsaid)
        latent = text = torch.zeros(())
        acted = self.action_logits(example.before, read.latent.sample(), example.after, example.action)
        action = self._cross_entropy(acted, example.action)
        if example.unsaid:
            latent = latent_loss(read.latent, self.targets(example))
        if read.logits is not None:
            text = self._cross_entropy(read.logits, example.reply)
        return Losses(
            action,
            text,
            entropy_loss(read.latent),
            latent,
            orthogonality_loss(read.behind, read.states),
            self._orthogonality,
        )

    def targets(self, example: SoftExample) -> Tensor:
        """Return what the latent tokens of an example are to say (e~), (N, embedding): what its words leave out.

        It is put into the executor's embedding space at random, always alike: a metre is as long as an embedding.
        """
        table = inner(self.executor).get_input_embeddings().weight
        shape = (self.soft.tokens, table.shape[1], UNSAID)
        spread = torch.randn(shape, generator=torch.Generator("cpu").manual_seed(0), device="cpu").to(table)
        return table.std() * (spread @ torch.tensor(example.unsaid))

    def fitted(self, wording: Sequence[int]) -> tuple[int, ...]:
        """Return a wording in N tokens."""
        return fitted(wording, self.soft.tokens, self._neutral)

    def _cross_entropy(self, logits: Tensor, tokens: Sequence[int]) -> Tensor:
        return nn.functional.cross_entropy(logits, torch.tensor(tokens), label_smoothing=self._smoothing)


class SideBySide(nn.Module):
    """Pairs of the same compiler and executor that learn from the same examples, so that each prompt is read once."""

    def __init__(self, pairs: Mapping[str, SoftPair]) -> None:
        super().__init__()
        self.pairs = dict(pairs)
        self._weights = nn.ModuleDict(pairs)

    def loss(self, example: SoftExample) -> Tensor:
        """Return the sum of the pairs' losses: they share no weights that are trained."""
        return torch.stack([pair.losses(example).total for pair in self.pairs.values()]).sum()
