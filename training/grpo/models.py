"""A SoftPair that plays: by llama.cpp with the robot's own weights, which is faster on a processor, or by torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.likelihood import LlamaScores
from benchmarks.ranking.choosing import Choice, RankedChoice
from memory_node.llm.chat import Deadline, Message, Reply
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.engine import Prompt
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.planner_config import ModelAccount
from training.adapters.example import Speller
from training.adapters.writing import REPLY_S, LlamaWriter, TorchWriter, log_probabilities
from training.grpo.rollouts import Decisions, NotingCompiler
from training.softmem.soft_memory import GaussianWeights, soft_memory_weights
from training.softmem.soft_pair import SoftPair, around_latent


@dataclass
class LlamaModels:
    """The `Models` of a pair whose adapters are exported. Replies are held to their form, as on the robot.

    config: of both models. executor_adapter: GGUF file; None where no model executes.
    """

    pair: SoftPair
    config: ModelConfig
    executor_adapter: Path | None
    writer: LlamaWriter = field(init=False)

    def __post_init__(self) -> None:
        self.writer = LlamaWriter(self.pair.compiler, self.config)
        self._soft = soft_memory_weights(self.pair.soft)

    def renew(self) -> None:
        """Play with the weights that the pair has now."""
        self.writer.renew()
        self._soft = soft_memory_weights(self.pair.soft)

    def compiler(self, temperature: float, seed: int, decisions: Decisions) -> NotingCompiler:
        """Return the pair's compiler; see Models."""
        random, count = np.random.default_rng(seed), self.writer.opened.count_tokens
        return NotingCompiler(self.writer, self._states, count, temperature, random, decisions)

    def executor(self) -> RankedChoice:
        """Return the executor; see Models."""
        return self._executor

    @cached_property
    def _executor(self) -> RankedChoice:
        config = self.config.changed(adapter_path=str(self.executor_adapter or ""))
        return RankedChoice(LlamaScores(ModelShelf().open_in_process(config)))

    @property
    def soft(self) -> GaussianWeights:
        """The pair's soft memory."""
        return self._soft

    def _states(self, decisions: Decisions, wording: str, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        model = self.writer.opened
        last = decisions.word(model.wording_tokens(wording, len(vectors)))
        asked = Prompt((*last.written.prompt, *last.written.tokens, *last.wording))
        return model.engine.states(asked, vectors, Deadline(REPLY_S))


@dataclass
class TorchModels:
    """The `Models` of a pair. most_tokens: of a reply. Replies are held to no form: what cannot be used delivers
    nothing, and the reward says so."""

    pair: SoftPair
    speller: Speller
    most_tokens: int = 512
    writer: TorchWriter = field(init=False)

    def __post_init__(self) -> None:
        self.writer = TorchWriter(self.pair.compiler, self.speller, self.most_tokens)

    def renew(self) -> None:
        """Do nothing: what plays is what is trained."""

    def compiler(self, temperature: float, seed: int, decisions: Decisions) -> NotingCompiler:
        """Return the pair's compiler; see Models."""
        random = np.random.default_rng(seed)

        def count(text: str) -> int:
            return len(self.speller.reply(text)) - 1

        return NotingCompiler(self.writer, self._states, count, temperature, random, decisions)

    def executor(self) -> TorchChooser:
        """Return the pair's executor; see Models."""
        return TorchChooser(self.pair, self.speller)

    @property
    def soft(self) -> GaussianWeights:
        """The pair's soft memory."""
        return soft_memory_weights(self.pair.soft)

    def _states(self, decisions: Decisions, wording: str, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        last = decisions.word(self.pair.fitted(self.speller.reply(wording)[:-1]))
        with torch.no_grad():
            read = self.pair.read(last.written.prompt, last.written.tokens, last.wording)
            return np.asarray(read.behind.cpu().numpy())


@dataclass
class TorchChooser:
    """A StepChooser: the executor's likeliest command. The last message's latent tokens are in its prompt."""

    pair: SoftPair
    speller: Speller
    thinks: bool = False
    is_valued: bool = True

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
