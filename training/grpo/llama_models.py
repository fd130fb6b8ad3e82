"""A SoftPair that plays by llama.cpp with the robot's own weights: several times as fast as torch on a processor."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memory_node.context.soft_memory import SoftMemoryWeights
from memory_node.llm.chat import JsonForm, Message, Reply, ReplyForm, ignore
from memory_node.llm.config import ModelConfig
from memory_node.llm.deadline import Deadline
from memory_node.llm.json_grammar import json_grammar
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.shared_model import Prompt, Sampling
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.step_chooser import RankedChoice
from training.adapters.adapter import save_adapter
from training.grpo.rollouts import Decision, Decisions
from training.softmem.soft_pair import SoftPair
from training.softmem.weights import soft_memory_weights


@dataclass
class LlamaModels:
    """The `Models` of a pair whose adapters are exported. Replies are held to their form, as on the robot.

    config: of both models. executor_adapter: GGUF file.
    """

    pair: SoftPair
    config: ModelConfig
    executor_adapter: Path
    _executor: RankedChoice = field(init=False)
    _compilers: ModelShelf = field(default_factory=ModelShelf)
    # Each process of a run writes its own.
    _folder: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)

    def __post_init__(self) -> None:
        config = self.config.changed(adapter_path=str(self.executor_adapter))
        self._executor = RankedChoice(ModelShelf().open_in_process(config))
        self.renew()

    def renew(self) -> None:
        """Play with the weights that the pair has now."""
        self._compilers.close()
        adapter = Path(self._folder.name) / "compiler.gguf"
        save_adapter(self.pair.compiler, adapter)
        self._open = self._compilers.open_in_process(self.config.changed(adapter_path=str(adapter)))
        self._soft = soft_memory_weights(self.pair.soft)

    def allowed(self, decision: Decision) -> list[Tensor]:
        """Return what a reply's grammar allowed at each place; see Models."""
        native = self._open.engine.native
        grammar = native.grammar(decision.grammar)
        every = np.arange(native.vocabulary.size, dtype=np.int32)
        found: list[Tensor] = []
        try:
            for token in decision.reply:
                found.append(torch.from_numpy(np.flatnonzero(grammar.allows(every))))
                if not native.vocabulary.ends(token):
                    grammar.follow(token)
        finally:
            grammar.close()
        return found

    def compiler(self, temperature: float, seed: int, decisions: Decisions) -> LlamaCompiler:
        """Return the pair's compiler; see Models."""
        random = np.random.default_rng(seed)
        return LlamaCompiler(self._open, self.config.max_reply_tokens, temperature, random, decisions)

    def executor(self) -> RankedChoice:
        """Return the executor; see Models."""
        return self._executor

    @property
    def soft(self) -> SoftMemoryWeights:
        """The pair's soft memory."""
        return self._soft


@dataclass
class LlamaCompiler:
    """A LatentModel that notes what it decided, token by token."""

    model: LlamaModel
    most_tokens: int
    temperature: float
    random: np.random.Generator
    decisions: Decisions
    name: str = "llama"

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Write a reply in its form. See ChatModel."""
        engine, grammar = self.model.engine, json_grammar(form.schema) if isinstance(form, JsonForm) else ""
        prompt = tuple(engine.template.tokens(messages))
        asked = Prompt(prompt, self.model.adapter)
        sampling, pieces = Sampling(self.temperature, self.random, grammar), list[bytes]()
        limit = deadline or Deadline(3600.0)
        written = engine.write(asked, self.most_tokens, limit, sampling, pieces.append)
        said = (*written.said, engine.template.end) if written.whole else written.said
        self.decisions.add(Decision(prompt, said, grammar))
        text = b"".join(pieces).decode("utf-8", "replace")
        return Reply(text, len(prompt), written.tokens, written.known_tokens, written.whole)

    def states(
        self,
        messages: Sequence[Message],
        reply: str,
        wording: str,
        vectors: NDArray[np.float32],
        deadline: Deadline | None = None,
        adapter: str = "",
    ) -> NDArray[np.float32]:
        """Return the states of vectors behind the last reply. See LatentModel."""
        last = self.decisions.word(self.model.wording_tokens(wording, len(vectors)))
        asked = Prompt((*last.prompt, *last.reply, *last.wording), self.model.adapter)
        return self.model.engine.states(asked, vectors, deadline or Deadline(3600.0), adapter)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return self.model.count_tokens(text)
