"""A model in a folder as Hugging Face keeps it: weights, tokenizer and chat template of a text or image-text model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer, GenerationConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from memory_node.llm.llama.engine import ChatTemplate
from training.adapters.model_tokens import ModelTokens


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
