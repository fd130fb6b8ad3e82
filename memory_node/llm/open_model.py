"""Opens the model that a config names. A file is loaded once, however many uses it has."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_node.domain.token_count import estimate_tokens
from memory_node.llm.chat import ChatModel, Message, Reply, ReplyForm, Score, ignore
from memory_node.llm.config import ModelConfig
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import ModelMissingError
from memory_node.llm.gguf_files import model_file
from memory_node.llm.llama.fast_weights import fast_weights
from memory_node.llm.llama.library import llama_library
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.shared_model import LlamaEngine
from memory_node.llm.openai_model import OpenAiModel

_LOG = logging.getLogger(__name__)


class MissingModel:
    """Stands for a model that is not there. Every request says why."""

    name = "none"

    def __init__(self, missing: ModelMissingError) -> None:
        self._missing = missing

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Say what is missing.

        Raises:
            ModelMissingError: always.
        """
        raise ModelMissingError(str(self._missing))

    def scores(
        self,
        messages: Sequence[Message],
        candidates: Sequence[str],
        deadline: Deadline | None = None,
        whole: bool = True,
    ) -> tuple[Score, ...]:
        """Say what is missing.

        Raises:
            ModelMissingError: always.
        """
        raise ModelMissingError(str(self._missing))

    def read(self, messages: Sequence[Message], deadline: Deadline | None = None) -> int:
        """Say what is missing.

        Raises:
            ModelMissingError: always.
        """
        raise ModelMissingError(str(self._missing))

    def count_tokens(self, text: str) -> int:
        """Return an estimate."""
        return estimate_tokens(text)


class _EngineKey(NamedTuple):
    """What uses that share a loaded model have in common. merged: the adapter in its weights, "" for none."""

    path: Path
    window_tokens: int
    threads: int
    fast: bool = False
    merged: str = ""


class ModelShelf:
    """Models that are loaded in this process; uses of one file share it. Thread-safe.

    Where weights are made fast, each adapter has weights and attention memory of its own; else adapters share, too.
    """

    def __init__(self) -> None:
        self._engines: dict[_EngineKey, LlamaEngine] = {}
        self._lock = threading.Lock()

    def open(self, config: ModelConfig) -> ChatModel:
        """Return the model of a config; one in this process is a ScoringModel.

        Raises:
            ModelMissingError: a package or file is not there.
        """
        return self.open_in_process(config) if config.in_process else OpenAiModel(config)

    def open_or_excuse(self, config: ModelConfig) -> ChatModel:
        """Return the model of a config, or one that says at each request what is missing: who asks goes on without."""
        try:
            return self.open(config)
        except ModelMissingError as missing:
            _LOG.warning("no language model: %s", missing)
            return MissingModel(missing)

    def open_in_process(self, config: ModelConfig) -> LlamaModel:
        """Return a model that runs here, which also scores.

        Raises:
            ModelMissingError: a package or file is not there.
        """
        path = model_file(config).resolve()
        if config.adapter_path and not Path(config.adapter_path).is_file():
            raise ModelMissingError(f"adapter_path: {config.adapter_path} is no file; it names a GGUF file")
        fast = path.stat().st_size <= 1e6 * config.fast_weights_mb
        with self._lock:
            engine = self._fast_engine(path, config) if fast else None
            return LlamaModel(engine or self._engine(_EngineKey(path, config.window_tokens, config.threads)), config)

    def _fast_engine(self, path: Path, config: ModelConfig) -> LlamaEngine | None:
        """Return the engine with weights made ready for a config; None where they cannot be made, with a warning."""
        key = _EngineKey(path, config.window_tokens, config.threads, True, config.adapter_path)
        if key in self._engines:
            return self._engines[key]
        llama_library()  # where it is missing, that is what to say
        try:
            with fast_weights(path, config.adapter_path) as weights:
                return self._engine(key, weights)
        except (ModelMissingError, OSError) as error:
            _LOG.warning("%s: its weights are used as they are, which is slower: %s", path.name, error)
            return None

    def _engine(self, key: _EngineKey, weights: Path | None = None) -> LlamaEngine:
        engine = self._engines.get(key) or LlamaEngine(key.path, key.window_tokens, key.threads, weights, key.merged)
        self._engines[key] = engine
        return engine

    def close(self) -> None:
        """Free what is loaded; its models cannot be asked afterwards."""
        with self._lock:
            while self._engines:
                self._engines.popitem()[1].close()
