"""Batches of instructions of several goals as tensors, each instruction made once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from training.instructions.acts import UNKNOWN, USER
from training.instructions.features import home_vector
from training.instructions.sequences import SequenceExample, Sequences

VERBS: tuple[str, ...] = ("clean", "heat", "cool", "slice", "examine", "fetch", "find", "switch_on", "switch_off")
VERBS += ("open", "close", "fill", "empty", "break", "throw", "at", "near", "two", "other", "back")
STOP, START = "stop", "start"
LONGEST = 48  # symbols
BATCH = 96  # instructions
_MAX_TOKENS = 128
_LONG = 300  # characters

Batch = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


class Examples:
    """Makes instructions and batches of them. symbols: what can be written, the classes last."""

    def __init__(
        self,
        maker: Sequences,
        tokenizer: Tokenizer,
        classes: Sequence[str],
        symbols: Sequence[str],
        generator: np.random.Generator,
    ) -> None:
        self._maker = maker
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._classes = classes
        self._symbols = {symbol: index for index, symbol in enumerate(symbols)}
        self._first_class = len(symbols) - len(classes)
        self._generator = generator

    def made(self, count: int) -> list[SequenceExample]:
        """Return new instructions: of our patterns, of people's sentences joined, remarks and talk; few are long."""
        makers = (self._maker.instruction, self._maker.joined, self._maker.remark, self._maker.elsewhere)
        examples: list[SequenceExample] = []
        while len(examples) < count:
            example = makers[self._generator.choice(4, p=(0.6, 0.3, 0.05, 0.05))]()
            if len(example.text) < _LONG or self._generator.random() < 0.1:
                examples.append(example)
        return examples

    def batches(self, examples: Sequence[SequenceExample]) -> Iterator[Batch]:
        """Yield ids, mask, written symbols with START and STOP (-1 behind), homes, absent symbols."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch([example.text for example in examples])]
        lengths = np.array([len(row) for row in ids]) + self._generator.uniform(0.0, 3.0, len(ids))
        order = np.argsort(lengths, kind="stable")
        starts = np.arange(0, len(order), BATCH)
        self._generator.shuffle(starts)
        for start in starts:
            rows = order[start : start + BATCH]
            yield self._batch([examples[row] for row in rows], [ids[row] for row in rows])

    def _batch(self, examples: Sequence[SequenceExample], ids: Sequence[list[int]]) -> Batch:
        block = np.zeros((len(ids), max(map(len, ids))), dtype=np.int64)
        mask = np.zeros(block.shape, dtype=np.float32)
        written = [self._written(example) for example in examples]
        target = np.full((len(ids), max(map(len, written))), -1, dtype=np.int64)
        for index, (row, symbols) in enumerate(zip(ids, written)):
            block[index, : len(row)], mask[index, : len(row)] = row, 1.0
            target[index, : len(symbols)] = symbols
        home = np.stack([home_vector(example.objects, example.fixtures, self._classes) for example in examples])
        home, absent = self._forgotten(home, target)
        return tuple(map(torch.from_numpy, (block, mask, target, home, absent)))  # type: ignore[return-value]

    def _written(self, example: SequenceExample) -> list[int]:
        symbols = [symbol for effect in example.effects for symbol in effect][: LONGEST - 1]
        return [self._symbols[symbol] for symbol in (START, *symbols, STOP)]

    def _forgotten(
        self, home: NDArray[np.float32], target: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return homes of which some are unknown, and what each lacks; never what is asked for."""
        count, width = len(home), len(self._classes)
        unknown = self._generator.random(count) < 0.2
        home = home * (self._generator.random(home.shape) >= 0.03)
        home[unknown] = 0.0
        absent = np.zeros((count, self._first_class + width), dtype=np.float32)
        absent[:, self._first_class :] = 1.0 - np.clip(home[:, :width] + home[:, width:], 0.0, 1.0)
        absent[unknown] = 0.0
        absent[:, self._symbols[USER]] = 0.0
        rows = np.arange(count)[:, None]
        absent[rows, np.maximum(target, 0)] = 0.0
        return home.astype(np.float32), absent


def written_symbols(classes: Sequence[str]) -> list[str]:
    """Return everything that can be written, as the shipped labels list it."""
    return [STOP, START, *VERBS, UNKNOWN, *classes]
