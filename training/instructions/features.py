"""Sentences as tensors: token ids, the frozen layers' hidden states, and the home's classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory_node.app.progress import shown
from memory_node.domain.skill_library import GOALS
from memory_node.planner.reading.trained_reader import NOTHING, SEVERAL
from training.instructions.corpus import Example
from training.instructions.network import FrozenLayers

MAX_TOKENS = 80
MODEL_KINDS = (*(kind.value for kind, goal in GOALS.items() if goal.learnt), NOTHING, SEVERAL)
UNASKED = -1  # the label of slots that mean nothing
_TEXTS_A_CALL = 1000
_DROP_HOME, _DROP_FIXTURES, _DROP_CLASS = 0.12, 0.12, 0.03


def half_precision() -> torch.autocast:
    """Return the context that multiplies in bfloat16, which takes a third of the time where the processor knows it."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


@dataclass
class Encoded:
    """Examples ready for training: hidden (tokens of all, 384) float16 by row offsets, home (n, 2c), labels (n, 6)."""

    hidden: NDArray[np.float16]
    offsets: NDArray[np.int64]
    home: NDArray[np.float32]
    labels: NDArray[np.int64]

    def batch(self, rows: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return hidden (b, longest, 384) float32 and mask (b, longest)."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        hidden = np.zeros((len(rows), int(lengths.max()), self.hidden.shape[1]), dtype=np.float32)
        mask = np.zeros(hidden.shape[:2], dtype=np.float32)
        for index, row in enumerate(rows):
            hidden[index, : lengths[index]] = self.hidden[self.offsets[row] : self.offsets[row + 1]]
            mask[index, : lengths[index]] = 1.0
        return torch.from_numpy(hidden), torch.from_numpy(mask)


def home_vector(objects: frozenset[str], fixtures: frozenset[str], classes: Sequence[str]) -> NDArray[np.float32]:
    """Return (2 len(classes),): what movable things and what fixtures the home has; zeros where that is unknown."""
    things = [float(name in objects) for name in classes]
    return np.array(things + [float(name in fixtures) for name in classes], dtype=np.float32)


def forget_some(
    home: NDArray[np.float32], labels: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.float32]:
    """Return homes (n, 2c) of which some are unknown in whole or in part, so that the model does not lean on them.

    Of a home that is known, single classes are forgotten, but none that `labels` (n, 6) ask for.
    """
    count, width = home.shape
    kept = home * (generator.random(home.shape) >= _DROP_CLASS)
    rows = np.arange(count)[:, None]
    asked = np.maximum(labels[:, 1:5], 0)
    for columns in (asked, asked + width // 2):
        kept[rows, columns] = home[rows, columns]
    kept[generator.random(count) < _DROP_HOME] = 0.0
    kept[generator.random(count) < _DROP_FIXTURES, width // 2 :] = 0.0
    return kept.astype(np.float32)


def label_row(example: Example, classes: Sequence[str]) -> list[int]:
    """Return the labels' indices in the order of network.SLOTS; UNASKED where several goals leave none."""
    labels = example.labels
    if labels.kind == SEVERAL:
        return [MODEL_KINDS.index(SEVERAL), *([UNASKED] * 5)]
    slots = (labels.target, labels.parent, labels.container, labels.light)
    return [MODEL_KINDS.index(labels.kind), *(classes.index(name) for name in slots), int(labels.sliced)]


def _token_ids(texts: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """Return the pieces of each text; in parts, for Ctrl-C is heard between two calls of the tokenizer only."""
    parts = (texts[first : first + _TEXTS_A_CALL] for first in range(0, len(texts), _TEXTS_A_CALL))
    return [encoding.ids for part in parts for encoding in tokenizer.encode_batch(part)]


def encode(
    examples: Sequence[Example],
    classes: Sequence[str],
    tokenizer: Tokenizer,
    frozen: FrozenLayers,
    batch_size: int = 128,
) -> Encoded:
    """Run the frozen layers over all sentences once."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    ids = _token_ids([example.text for example in examples], tokenizer)
    lengths = np.array([len(row) for row in ids])
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    hidden = np.empty((int(offsets[-1]), 384), dtype=np.float16)
    order = np.argsort(lengths, kind="stable")
    for start in shown(range(0, len(order), batch_size), "encoding"):
        rows = order[start : start + batch_size]
        longest = int(lengths[rows].max())
        block = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.float32)
        for index, row in enumerate(rows):
            block[index, : lengths[row]] = ids[row]
            mask[index, : lengths[row]] = 1.0
        with torch.no_grad(), half_precision():
            states = frozen(torch.from_numpy(block), torch.from_numpy(mask)).float().numpy()
        for index, row in enumerate(rows):
            hidden[offsets[row] : offsets[row + 1]] = states[index, : lengths[row]]
    home = np.stack([home_vector(example.objects, example.fixtures, classes) for example in examples])
    labels = np.array([label_row(example, classes) for example in examples], dtype=np.int64)
    return Encoded(hidden, offsets, home, labels)
