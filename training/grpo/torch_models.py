"""A SoftPair that plays by torch: any causal model, on any machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memory_node.context.soft_memory import SoftMemoryWeights
from memory_node.llm.chat import Message, Reply, ReplyForm, ignore
from memory_node.llm.deadline import Deadline
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.step_chooser import Choice
from training.adapters.example import Speller
from training.adapters.text_model import inner
from training.grpo.rollouts import Decision, Decisions
from training.softmem.soft_example import around_latent
from training.softmem.soft_pair import SoftPair
from training.softmem.weights import soft_memory_weights


@dataclass(frozen=True)
class TorchModels:
    """The `Models` of a pair. most_tokens: of a reply. Replies are held to no form."""

    pair: SoftPair
    speller: Speller
    most_tokens: int = 512

    def compiler(self, temperature: float, seed: int, decisions: Decisions) -> TorchCompiler:
        """Return the pair's compiler; see Models."""
        generator = torch.Generator("cpu").manual_seed(seed)
        return TorchCompiler(self.pair, self.speller, temperature, generator, self.most_tokens, decisions)

    def executor(self) -> TorchChooser:
        """Return the pair's executor; see Models."""
        return TorchChooser(self.pair, self.speller)

    @property
    def soft(self) -> SoftMemoryWeights:
        """The pair's soft memory."""
        return soft_memory_weights(self.pair.soft)

    def renew(self) -> None:
        """Do nothing: what plays is what is trained."""

    def allowed(self, decision: Decision) -> None:
        """Return that every token might be said."""


@dataclass
class TorchCompiler:
    """A LatentModel that writes as a SoftPair's compiler does, and notes what it decided."""

    pair: SoftPair
    speller: Speller
    temperature: float
    generator: torch.Generator
    most_tokens: int
    decisions: Decisions
    name: str = "torch"

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
            reply = self._drawn(prompt)
        self.decisions.add(Decision(prompt, reply))
        said = reply[:-1] if reply[-1] == self.speller.end else reply
        return Reply(self.speller.text(said), len(prompt), len(reply), whole=reply[-1] == self.speller.end)

    def states(
        self,
        messages: Sequence[Message],
        reply: str,
        wording: str,
        vectors: NDArray[np.float32],
        deadline: Deadline | None = None,
        adapter: str = "",
    ) -> NDArray[np.float32]:
        """Return the states of the placeholders behind the last reply. See LatentModel; it takes no adapter."""
        last = self.decisions.word(self.pair.fitted(self.speller.reply(wording)[:-1]))
        with torch.no_grad():
            return np.asarray(self.pair.read(last.prompt, last.reply, last.wording).behind.cpu().numpy())

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self.speller.reply(text)) - 1

    def _drawn(self, prompt: Sequence[int]) -> tuple[int, ...]:
        model = inner(self.pair.compiler)
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


@dataclass
class TorchChooser:
    """A StepChooser: the executor's likeliest command. The last message's latent tokens are in its prompt."""

    pair: SoftPair
    speller: Speller
    thinks: bool = False

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Score all commands; see StepChooser."""
        before, after = around_latent(messages, self.speller)
        told = messages[-1].latent
        soft = torch.zeros(0, self.pair.soft.mean.out_features) if told is None else torch.tensor(told)
        scores: dict[str, float] = {}
        with torch.no_grad():
            for command in values:
                tokens = self.speller.reply(command)
                logits = self.pair.action_logits(before, soft, after, tokens)
                scores[command] = float(log_probabilities(logits, tokens, 1.0).sum())
        best = max(scores, key=lambda command: scores[command])
        account.charge(Reply(best, len(before) + len(soft) + len(after), len(self.speller.reply(best))))
        return Choice(best, best)


def log_probabilities(
    logits: Tensor, tokens: Sequence[int], temperature: float, allowed: Sequence[Tensor] | None = None
) -> Tensor:
    """Return the log-probabilities (tokens,) with which tokens are drawn by their logits (tokens, vocabulary).

    allowed: at each place the tokens that might be drawn there, None for all.
    """
    spread = logits / temperature if temperature else logits
    own = spread.gather(1, torch.tensor(tokens).unsqueeze(1))[:, 0]
    if allowed is None:
        return own - spread.logsumexp(-1)
    return own - torch.stack([row[may].logsumexp(-1) for row, may in zip(spread, allowed, strict=True)])
