"""The model that a training begins with: a GGUF file, as the robot runs it, or a folder of Hugging Face's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer, GenerationConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from memory_node.llm.chat import Message
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.engine import ChatTemplate, LlamaEngine, TemplateVocabulary
from memory_node.llm.open_model import model_file
from training.adapters.adapter import gguf_model, with_adapter
from training.adapters.processes import device
from training.adapters.writing import LlamaWriter, TorchWriter, Writer


class SpellingVocabulary(TemplateVocabulary, Protocol):
    """A model's tokenizer that also writes tokens as text."""

    def text(self, tokens: Iterable[int]) -> str:
        """Return what tokens say, control tokens nothing."""


class ModelTokens:
    """A Speller of a model: its chat template over its vocabulary."""

    def __init__(self, template: ChatTemplate, vocabulary: SpellingVocabulary) -> None:
        self._template = template
        self._vocabulary = vocabulary

    @property
    def end(self) -> int:
        """The token that ends a turn of the model."""
        return self._template.end

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Return a dialogue up to where the model's turn begins."""
        return self._template.tokens(messages)

    def reply(self, text: str) -> list[int]:
        """Return what the model says, and the end of its turn."""
        return [*self._vocabulary.tokens(text), self.end]

    def text(self, tokens: Sequence[int]) -> str:
        """Return what tokens of a reply say, its end nothing."""
        return self._vocabulary.text(token for token in tokens if token != self.end)


class FolderVocabulary:
    """A SpellingVocabulary of a folder's tokenizer.

    Raises:
        ValueError: the folder has none.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        except (OSError, ValueError) as error:
            raise ValueError(f"{folder} has no tokenizer: {error}") from error
        self.begin = _token(self.tokenizer.bos_token_id)
        self.end = _token(self.tokenizer.eos_token_id)
        self.begins_with_it = self.tokenizer.encode("a")[:1] == [self.begin]
        self._ends = {self.end, *_ends(folder)}

    def tokens(self, text: str, control: bool = False) -> list[int]:
        """Return the tokens of a text. control: names of control tokens in it are those tokens."""
        found = self.tokenizer(text, add_special_tokens=False, split_special_tokens=not control)
        return list(found["input_ids"])

    def text(self, tokens: Iterable[int]) -> str:
        """Return what tokens say, control tokens nothing."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))

    def ends(self, token: int) -> bool:
        """Return whether a token ends the model's turn."""
        return token in self._ends

    def text_of_control(self, token: int) -> str:
        """Return how a control token is written in a template, "" for none."""
        return str(self.tokenizer.convert_ids_to_tokens(token)) if token >= 0 else ""


def folder_tokens(folder: Path) -> ModelTokens:
    """Return the tokens of a folder's model.

    Raises:
        ValueError: the folder has no tokenizer, or no chat template that can be read.
    """
    vocabulary = FolderVocabulary(folder)
    source = vocabulary.tokenizer.chat_template or _template_of_processor(folder)
    if isinstance(source, dict):  # several by name
        source = source.get("default", "")
    return ModelTokens(ChatTemplate(source, vocabulary), vocabulary)


def folder_model(folder: Path) -> Any:
    """Return the model of a folder, its weights as float32.

    Raises:
        ValueError: it is neither a causal nor an image-text model.
    """
    try:
        config = AutoConfig.from_pretrained(str(folder), local_files_only=True)
        kind = AutoModelForCausalLM if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING else AutoModelForImageTextToText
        return kind.from_pretrained(str(folder), dtype=torch.float32, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder} holds no causal or image-text language model: {error}") from error


def _token(number: int | None) -> int:
    return -1 if number is None else number


def _ends(folder: Path) -> list[int]:
    """Return the tokens at which the model is told to stop, if its folder says so."""
    if not (folder / "generation_config.json").is_file():
        return []
    ends = GenerationConfig.from_pretrained(str(folder), local_files_only=True).eos_token_id
    return ends if isinstance(ends, list) else [_token(ends)]


def _template_of_processor(folder: Path) -> str:
    """Return the template that lies beside the tokenizer of some image-text models, "" for none."""
    path = folder / "chat_template.json"
    return str(json.loads(path.read_text("utf-8"))["chat_template"]) if path.is_file() else ""


_WINDOW_TOKENS = 4096


@dataclass(frozen=True)
class BaseModel:
    """A model that adapters are trained for. load: reads its weights. config: of llama.cpp, which runs it in the
    robot's process; None for a model that it cannot run."""

    tokens: ModelTokens
    load: Callable[[], Any]
    config: ModelConfig | None

    @property
    def suffix(self) -> str:
        """What the name of an adapter ends with: a GGUF file, or a folder in PEFT's format. See save_adapter."""
        return "" if self.config is None else ".gguf"

    def adapted(self, rank: int) -> Any:
        """Return the model, frozen, with an untrained adapter of a rank.

        Raises:
            ValueError: it is no model that can be trained.
        """
        with torch.device("cpu"):  # the same weights and draws wherever it computes
            return with_adapter(self.load(), rank).to(device())

    def adapter_path(self, folder: Path, name: str) -> Path:
        """Return where an adapter goes."""
        return folder / f"{name}{self.suffix}"

    def writer(self, model: Any, most_tokens: int) -> Writer:
        """Return what writes as this model with an adapter does. most_tokens: of a reply."""
        if self.config is None:
            return TorchWriter(model, self.tokens, most_tokens)
        return LlamaWriter(model, self.config.changed(max_reply_tokens=most_tokens))


def open_base(path: str, threads: int) -> BaseModel:
    """Open a GGUF file, a folder of Hugging Face's, or the embedded model for "".

    Raises:
        ModelMissingError, ValueError: it cannot be read.
    """
    if path and Path(path).is_dir():
        folder = Path(path)
        return BaseModel(folder_tokens(folder), partial(folder_model, folder), None)
    config = ModelConfig(backend="llama", model_path=path, threads=threads)
    file = model_file(config)
    engine = LlamaEngine(file, _WINDOW_TOKENS, config.thread_count)
    return BaseModel(ModelTokens(engine.template, engine.native.vocabulary), partial(gguf_model, file), config)
