"""Rollouts: a compiler that samples what it says, an executor that follows or not, and what both decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from memory_node.llm.chat import Message, Reply, ReplyForm, ignore
from memory_node.llm.deadline import Deadline
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.step_chooser import Choice
from training.adapters.example import Tokenizer
from training.softmem.soft_pair import SoftPair, around_latent


class Speller(Tokenizer, Protocol):
    """A Tokenizer that also writes tokens as text. end: the token that ends a turn."""

    end: int

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""


@dataclass(frozen=True)
class Decision:
    """What was sampled at one step. old: log-probabilities of the reply's tokens, (reply,). soft: the latent tokens,
    (N, embedding); old_soft: their log-densities, (N,)."""

    prompt: tuple[int, ...]
    reply: tuple[int, ...]
    old: Tensor
    soft: Tensor
    old_soft: Tensor


@dataclass(frozen=True)
class Rollout:
    """One game: what was decided, and 1 where it was won."""

    decisions: tuple[Decision, ...]
    reward: float


@dataclass
class SampledCompiler:
    """A ChatModel that writes as a SoftPair's compiler does, and remembers what it decided.

    temperature: 0 takes the likeliest token and the middle of the latent tokens. most_tokens: of a reply.
    """

    pair: SoftPair
    speller: Speller
    temperature: float
    generator: torch.Generator
    most_tokens: int = 512
    decisions: list[Decision] = field(default_factory=list)
    name: str = "sampled"

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Write a reply, held to no form: what cannot be used of it delivers nothing, and the reward says so."""
        prompt = tuple(self.speller.prompt(messages))
        with torch.no_grad():
            reply = self._sampled(prompt)
            logits, _, latent = self.pair.read(prompt, reply)
            old = token_log_probabilities(logits, reply, self.temperature)
            soft = latent.sample(self.generator) if self.temperature else latent.mean
            self.decisions.append(Decision(prompt, reply, old, soft, latent.log_density(soft)))
        said = reply[:-1] if reply[-1] == self.speller.end else reply
        return Reply(self.speller.text(said), len(prompt), len(reply), whole=reply[-1] == self.speller.end)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self.speller.reply(text)) - 1

    def _sampled(self, prompt: Sequence[int]) -> tuple[int, ...]:
        model: Any = self.pair.compiler
        found: list[int] = []
        out = model(torch.tensor([list(prompt)]), use_cache=True)
        while True:
            logits = out.logits[0, -1]
            if self.temperature:
                chances = (logits / self.temperature).softmax(-1).cpu()
                token = int(torch.multinomial(chances, 1, generator=self.generator))
            else:
                token = int(logits.argmax())
            found.append(token)
            if token == self.speller.end or len(found) >= self.most_tokens:
                return tuple(found)
            out = model(torch.tensor([[token]]), past_key_values=out.past_key_values, use_cache=True)


def token_log_probabilities(logits: Tensor, tokens: Sequence[int], temperature: float) -> Tensor:
    """Return the log-probabilities (tokens,) with which tokens are sampled by their logits (tokens, vocabulary)."""
    spread = logits / temperature if temperature else logits
    return spread.log_softmax(-1).gather(1, torch.tensor(tokens).unsqueeze(1))[:, 0]


@dataclass
class LatentChooser:
    """A StepChooser: the executor's likeliest command, by torch. compiler: what it decided last is in the prompt as
    latent tokens. with_latent: False leaves these out."""

    pair: SoftPair
    speller: Speller
    compiler: SampledCompiler
    with_latent: bool = True
    thinks: bool = False

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Score all commands; see StepChooser."""
        before, after = around_latent(messages, self.speller)
        decided = self.compiler.decisions
        width = self.pair.soft.mean.out_features
        soft = decided[-1].soft if decided and self.with_latent else torch.zeros(0, width)
        scores: dict[str, float] = {}
        with torch.no_grad():
            for command in values:
                tokens = self.speller.reply(command)
                logits = self.pair.action_logits(before, soft, after, tokens)
                scores[command] = float(token_log_probabilities(logits, tokens, 1.0).sum())
        best = max(scores, key=lambda command: scores[command])
        account.charge(Reply(best, len(before) + len(soft) + len(after), len(self.speller.reply(best))))
        return Choice(best, best)
