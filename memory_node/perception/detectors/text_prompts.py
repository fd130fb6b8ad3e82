"""Prompts of open-vocabulary detectors as their text inputs, by the tokenizer.json beside the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tokenizers import Tokenizer

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.perception.detectors.candidates import FloatArray, sigmoid
from memory_node.perception.detectors.model_description import ModelDescription

_OWL_TOKENS = 16
_LONGEST_PROMPT = 100
# Ends of a phrase in one text.
_ENDS = (".", "?")
Feed = dict[str, NDArray[np.int64]]


def checked_prompts(prompts: Sequence[str]) -> tuple[str, ...]:
    """Return prompts without surrounding blanks.

    Raises:
        InvalidValueError: none, an empty or a long one, or one twice.
    """
    clean = tuple(prompt.strip() for prompt in prompts)
    if not clean or not all(clean) or max(map(len, clean)) > _LONGEST_PROMPT:
        raise InvalidValueError(f"expected prompts of 1 to {_LONGEST_PROMPT} characters, got {list(prompts)[:5]}")
    twice = next((prompt for prompt in clean if clean.count(prompt) > 1), None)
    if twice is not None:
        raise InvalidValueError(f"the prompt {twice!r} stands twice")
    return clean


class TextPrompts:
    """Encodes prompts for a model: all in one text (Grounding DINO), or each for itself (OWL).

    Raises:
        ResourceMissingError: there is no tokenizer.json beside the model.
    """

    def __init__(self, model: Path, description: ModelDescription) -> None:
        path = model.with_name("tokenizer.json")
        if not path.is_file():
            raise ResourceMissingError(f"{path}: no such tokenizer; an open-vocabulary model needs its own beside it")
        self._tokenizer = Tokenizer.from_file(str(path))
        self._inputs = {one.name: one for one in description.inputs}
        self._grounded = description.is_grounded
        self._spans: list[NDArray[np.intp]] = []
        # The text inputs by name.
        self.feed: Feed = {}

    def set(self, prompts: Sequence[str]) -> None:
        """Encode prompts for the runs to come."""
        self.feed = self._one_text(prompts) if self._grounded else self._one_by_one(prompts)

    def scores(self, logits: FloatArray) -> FloatArray:
        """Return scores (n, prompts) of logits (n, prompts) or, where all are in one text, (n, tokens): a prompt's is
        that of its best token."""
        scores = sigmoid(logits)
        if not self._grounded:
            return scores
        return np.stack([scores[:, span].max(axis=1) for span in self._spans], axis=1)

    def _one_by_one(self, prompts: Sequence[str]) -> Feed:
        told = self._inputs["input_ids"].shape
        length = told[1] or _OWL_TOKENS
        if told[0] not in (None, len(prompts)):
            raise InvalidValueError(f"the model takes exactly {told[0]} prompts, got {len(prompts)}")
        self._tokenizer.enable_truncation(length)
        self._tokenizer.enable_padding(length=length, pad_id=0)
        encoded = self._tokenizer.encode_batch(list(prompts))
        columns: dict[str, list[ArrayLike]] = {
            "input_ids": [e.ids for e in encoded],
            "attention_mask": [e.attention_mask for e in encoded],
        }
        return self._wanted(columns)

    def _one_text(self, prompts: Sequence[str]) -> Feed:
        text = " ".join(f"{prompt.lower().rstrip('.')}." for prompt in prompts)
        length = self._inputs["input_ids"].shape[1]
        self._tokenizer.no_padding()
        encoded = self._tokenizer.encode(text)
        if length is not None and len(encoded.ids) > length:
            raise InvalidValueError(f"the prompts make {len(encoded.ids)} tokens, the model takes {length}")
        self._spans, at = [], 0
        ends = [i for i, (a, b) in enumerate(encoded.offsets) if a == b or text[a:b] in _ENDS]
        for prompt in prompts:
            end = at + len(prompt.rstrip("."))
            inside = [i for i, (a, b) in enumerate(encoded.offsets) if b > a and at <= a and b <= end]
            if not inside:
                raise InvalidValueError(f"the tokenizer knows no part of the prompt {prompt!r}")
            self._spans.append(np.array(inside))
            at = end + 2
        pad = 0 if length is None else length - len(encoded.ids)
        places, sees = _phrases(ends, len(encoded.ids) + pad)
        columns: dict[str, list[ArrayLike]] = {
            "input_ids": [encoded.ids + [0] * pad],
            "attention_mask": [encoded.attention_mask + [0] * pad],
            "token_type_ids": [encoded.type_ids + [0] * pad],
            "position_ids": [places],
            "text_token_mask": [sees],
        }
        return self._wanted(columns)

    def _wanted(self, columns: Mapping[str, Sequence[ArrayLike]]) -> Feed:
        return {name: np.array(rows, np.int64) for name, rows in columns.items() if name in self._inputs}


def _phrases(ends: Sequence[int], tokens: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of each of n tokens in its phrase (n,), and 1 where one may see another (n, n): in its own
    phrase only (Liu et al. 2023, section 3.4).

    ends: of phrases, and the marks around the whole text. What fills up the rest sees itself alone.
    """
    places, sees = np.zeros(tokens, np.int64), np.eye(tokens, dtype=np.int64)
    first = 0
    for end in ends:
        places[first : end + 1] = np.arange(end + 1 - first)
        sees[first : end + 1, first : end + 1] = 1
        first = end + 1
    return places, sees
