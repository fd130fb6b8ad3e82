"""A compiler, its soft memory and a frozen executor: the steps that they learn from together, and the loss."""

from __future__ import annotations

import argparse
import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache

from benchmarks.alfworld.policy import split_advice
from memory_node.context.soft_memory import UNSAID
from memory_node.llm.chat import Message
from memory_node.llm.llama.model import fitted
from training.adapters.adapter import decoder, inner, load_adapter, scores, width
from training.adapters.base_model import BaseModel
from training.adapters.example import Tokenizer
from training.adapters.processes import device
from training.compiler.teacher import CompilerPair
from training.softmem.soft_memory import (
    Gaussian,
    SoftMemory,
    entropy_loss,
    latent_loss,
    orthogonality_loss,
)


@dataclass(frozen=True)
class SoftExample:
    """One step. prompt, reply: of the compiler. before, after: of the executor's prompt, with the latent tokens between
    them. wording: the advice as the executor reads it, action: the right command. All are tokens.

    unsaid: (UNSAID,), what words leave out of the thing that is advised; () where that is nothing.
    """

    prompt: tuple[int, ...]
    reply: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    wording: tuple[int, ...]
    action: tuple[int, ...]
    unsaid: tuple[float, ...] = ()


def soft_example(
    pair: CompilerPair, tokenizer: Tokenizer, most_tokens: int, in_words: bool = True
) -> SoftExample | None:
    """Return a pair as an example; None where it does not say what the executor was advised, or is too long.

    in_words: whether the executor reads the advice, too. Where it does not, the latent tokens must tell all of it.
    """
    if not pair.executor or not pair.action:
        return None
    state_alone, advice = split_advice(pair.executor)
    if not advice:
        return None
    before, after = around_latent(pair.executor if in_words else state_alone, tokenizer)
    prompt, reply = tokenizer.prompt(pair.messages), tokenizer.reply(pair.reply)
    if max(len(prompt) + len(reply), len(before) + len(after)) > most_tokens:
        return None
    wording, action = tokenizer.reply(advice)[:-1], tokenizer.reply(pair.action)
    return SoftExample(tuple(prompt), tuple(reply), before, after, tuple(wording), tuple(action), pair.unsaid)


def around_latent(dialogue: Sequence[Message], tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return an executor's prompt in two parts: latent tokens stand at the end of what was said last."""
    *before, last = dialogue
    tokens = tokenizer.prompt(dialogue)
    # What follows the text is what two prompts share that end in different words.
    one, other = (tokenizer.prompt([*before, Message(last.role, f"{last.text} {word}")]) for word in ("one", "other"))
    at = len(tokens) - _shared(one[::-1], other[::-1])
    return tuple(tokens[:at]), tuple(tokens[at:])


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two sequences begin with alike."""
    limit = min(len(one), len(other))
    return next((at for at in range(limit) if one[at] != other[at]), limit)


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
_SMOOTHING = 0.1  # of the labels of text and action


@dataclass(frozen=True)
class Losses:
    """The parts of the loss of one example. latent: 0 where the words leave nothing out."""

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


@dataclass(frozen=True)
class ReadReply:
    """What a compiler makes of a prompt and its reply. logits: of the reply's tokens, (reply, vocabulary). states: of
    the reply, (reply, width). behind: of the placeholders behind it, (N, width). latent: the latent tokens."""

    logits: Tensor
    states: Tensor
    behind: Tensor
    latent: Gaussian


class SoftPair(nn.Module):
    """A compiler with its soft memory, and the executor that reads it.

    Args:
        compiler: a causal model, perhaps with free adapters.
        executor: another one, whose weights are frozen here.
        soft: makes the latent tokens.
        neutral: the token that says nothing: it fills a wording that is shorter than N tokens.
        through_prompt: whether gradients reach the compiler's weights where it reads its prompt, too, and not only
            where it writes. Without, an example takes about a third of the time.
    """

    def __init__(
        self,
        compiler: Any,
        executor: Any,
        soft: SoftMemory,
        through_prompt: bool = True,
        neutral: int = 0,
    ) -> None:
        super().__init__()
        self.compiler, self.executor, self.soft = compiler, executor, soft
        self._through_prompt = through_prompt
        self._neutral = neutral
        for weight in executor.parameters():
            weight.requires_grad_(False)
        self._asked, self._told = KeptPrompt(inner(compiler)), KeptPrompt(inner(executor))

    def read(
        self, prompt: Sequence[int], reply: Sequence[int], wording: Sequence[int], unsaid: Sequence[float] = ()
    ) -> ReadReply:
        """Return what the compiler makes of a prompt, its reply, and the wording of it behind it.

        unsaid: (UNSAID,), what the reply leaves out; () for nothing.
        """
        reads = decoder(self.compiler)
        left_out = torch.tensor(list(unsaid) or [0.0] * UNSAID)
        words = self.fitted(wording)
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
        latent = torch.zeros(())
        acted = self.action_logits(example.before, read.latent.sample(), example.after, example.action)
        action = self._cross_entropy(acted, example.action)
        if example.unsaid:
            latent = latent_loss(read.latent, self.targets(example))
        text = self._cross_entropy(read.logits, example.reply)
        orthogonality = orthogonality_loss(read.behind, read.states)
        return Losses(action, text, entropy_loss(read.latent), latent, orthogonality)

    def loss(self, example: SoftExample) -> Tensor:
        """Return what is learnt from one example."""
        return self.losses(example).total

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
        return nn.functional.cross_entropy(logits, torch.tensor(tokens), label_smoothing=_SMOOTHING)


def open_pair(base: BaseModel, args: argparse.Namespace, form: str, neutral: int) -> SoftPair:
    """Open compiler and executor of one base with their adapters, and a new soft memory between them.

    form: a text near whose tokens placeholders begin, again and again. neutral: the token near which latent tokens
    begin.

    Raises:
        ValueError: an adapter is of another model.
    """
    compiler, executor = base.adapted(args.rank), base.adapted(args.rank)
    load_adapter(compiler, args.compiler)
    load_adapter(executor, args.executor)
    executor = executor.merge_and_unload()  # what stays as it is computes faster without an adapter beside it
    tokens = base.tokens.reply(form)[:-1]
    embeddings = inner(compiler).get_input_embeddings().weight
    first = embeddings[[tokens[at % len(tokens)] for at in range(args.soft_tokens)]]
    said = inner(executor).get_input_embeddings().weight[neutral]
    soft = SoftMemory(width(compiler), width(compiler), args.soft_tokens, first, said)
    return SoftPair(compiler, executor, soft, neutral=neutral).to(device())
