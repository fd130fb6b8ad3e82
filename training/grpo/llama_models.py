"""A SoftPair that plays by llama.cpp with the robot's own weights: several times as fast as torch on a processor."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.likelihood.scoring import LlamaScores
from benchmarks.ranking.choosing import RankedChoice
from memory_node.llm.chat import Deadline
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.engine import Prompt
from memory_node.llm.open_model import ModelShelf
from training.adapters.llama_writer import REPLY_S, LlamaWriter
from training.grpo.noting_compiler import NotingCompiler
from training.grpo.rollouts import Decisions
from training.softmem.soft_pair import SoftPair
from training.softmem.weights import GaussianWeights, soft_memory_weights


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
