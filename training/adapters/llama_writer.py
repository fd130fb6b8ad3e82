"""A model in training, played by llama.cpp as the robot runs it: quantised, and its replies held to their form."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from memory_node.llm.chat import Deadline, Message
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.engine import Prompt
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.open_model import ModelShelf
from training.adapters.adapter import save_adapter
from training.adapters.sampling import Grammar, Sampling, TokenChoice, written
from training.adapters.writing import Written

# Of a reply, on whatever machine; nobody waits for it.
REPLY_S = 3600.0


class LlamaWriter:
    """A Writer by llama.cpp. model: whose adapter is exported at each `renew`. config: of the file under it."""

    def __init__(self, model: Any, config: ModelConfig) -> None:
        self._model = model
        self._config = config
        self._shelf = ModelShelf()
        self._folder = tempfile.TemporaryDirectory()  # each process of a run writes its own
        self.renew()

    @property
    def opened(self) -> LlamaModel:
        """What runs the model as it was at the last `renew`."""
        return self._opened

    def renew(self) -> None:
        """Write with the weights that the model has now."""
        self._shelf.close()
        adapter = Path(self._folder.name) / "adapter.gguf"
        save_adapter(self._model, adapter)
        self._opened = self._shelf.open_in_process(self._config.changed(adapter_path=str(adapter)))

    def write(self, messages: Sequence[Message], count: int, sampling: Sampling) -> list[Written]:
        """Return replies in their form; see Writer."""
        return [self._written(messages, sampling) for _ in range(count)]

    def allowed(self, reply: Written) -> Tensor | None:
        """Return what a reply's grammar allowed at each place; see Writer."""
        if not reply.grammar:
            return None
        vocabulary = self._opened.file.vocabulary
        every = np.arange(vocabulary.size, dtype=np.int32)
        found = np.zeros((len(reply.tokens), len(every)), bool)
        with contextlib.closing(Grammar(vocabulary, reply.grammar)) as grammar:
            for place, token in enumerate(reply.tokens):
                found[place] = grammar.allows(every)
                if not vocabulary.ends(token):
                    grammar.follow(token)
        return torch.as_tensor(found)

    def _written(self, messages: Sequence[Message], sampling: Sampling) -> Written:
        engine, deadline = self._opened.engine, Deadline(REPLY_S)
        prompt = tuple(engine.template.tokens(messages))
        with contextlib.ExitStack() as stack:
            grammar: Grammar | None = None
            if sampling.grammar:
                grammar = stack.enter_context(contextlib.closing(Grammar(engine.native.vocabulary, sampling.grammar)))
            choice = TokenChoice(sampling.temperature, sampling.random, grammar)
            said, whole = written(engine, Prompt(prompt), self._config.max_reply_tokens, choice, deadline)
        text = engine.native.vocabulary.text(said)
        return Written(prompt, (*said, engine.template.end) if whole else said, text, whole, sampling.grammar)
