"""The network that reads an instruction of several goals: an encoder layer of its own and a small decoder (torch)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from training.instructions.features import half_precision
from training.instructions.network import HIDDEN, EncoderLayer, FrozenLayers

WIDTH = 256
_ABSENT = -6.0  # added to the logit of a class that the home is not known to have: unlikely, not impossible


@dataclass(frozen=True)
class SequenceSizes:
    """symbols: how many there are to write; longest: how many are written at most; home: width of its vector."""

    symbols: int
    longest: int
    home: int


class SequenceReader(nn.Module):
    """Hidden states after the frozen layers (batch, tokens, 384) -> what the writer attends to (batch, tokens, 256)."""

    def __init__(self) -> None:
        super().__init__()
        self.tuned = EncoderLayer()
        self.narrow = nn.Linear(HIDDEN, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.dropout = nn.Dropout(0.1)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the words as the writer sees them."""
        narrow: Tensor = self.norm(self.narrow(self.tuned(self.dropout(hidden), mask)))
        return narrow


class _Attention(nn.Module):
    """Attention of the symbols written so far to each other or to the words."""

    def __init__(self, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.joined = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.mixed = nn.Linear(WIDTH, WIDTH)

    def forward(self, queries: Tensor, keys: Tensor, bias: Tensor) -> Tensor:
        batch, count = queries.shape[0], queries.shape[1]
        size = WIDTH // self.heads
        query = self.query(queries).reshape(batch, count, self.heads, size).transpose(1, 2)
        key, value = self.joined(keys).reshape(batch, keys.shape[1], 2, self.heads, size).permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-1, -2) / size**0.5 + bias).softmax(-1)
        mixed: Tensor = self.mixed((weights @ value).transpose(1, 2).reshape(batch, count, WIDTH))
        return mixed


class _WriterLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.own, self.other = _Attention(), _Attention()
        self.inner, self.outer = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Tensor, words: Tensor, causal: Tensor, unseen: Tensor) -> Tensor:
        normed = self.norms[0](states)
        states = states + self.dropout(self.own(normed, normed, causal))
        states = states + self.dropout(self.other(self.norms[1](states), words, unseen))
        inner = nn.functional.gelu(self.inner(self.norms[2](states)))
        return states + self.dropout(self.outer(inner))


class SequenceWriter(nn.Module):
    """Writes goals symbol by symbol: each position's logits are those of the symbol that follows."""

    def __init__(self, sizes: SequenceSizes) -> None:
        super().__init__()
        self.symbols = nn.Embedding(sizes.symbols, WIDTH)
        self.positions = nn.Embedding(sizes.longest, WIDTH)
        nn.init.normal_(self.symbols.weight, std=0.05)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.home = nn.Linear(sizes.home, WIDTH)
        self.layers = nn.ModuleList(_WriterLayer() for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, sizes.symbols)

    def forward(self, written: Tensor, words: Tensor, mask: Tensor, home: Tensor, absent: Tensor) -> Tensor:
        """Return logits (batch, written, symbols).

        written (batch, n) symbols so far; words (batch, tokens, 256) with mask (batch, tokens); home (batch, 2c);
        absent (batch, symbols) is 1 for classes that the home lacks.
        """
        count = written.shape[1]
        states = self.symbols(written) + self.positions(torch.arange(count)) + self.home(home)[:, None]
        causal = torch.ones(count, count).triu(1)[None, None] * -1e9
        unseen = (mask[:, None, None, :] - 1.0) * 1e9
        for layer in self.layers:
            states = layer(states, words, causal, unseen)
        logits: Tensor = self.output(self.norm(states)) + _ABSENT * absent[:, None]
        return logits


class SequenceNetwork(nn.Module):
    """The frozen layers, which it shares with the model of single goals, the reader and the writer."""

    def __init__(self, frozen: FrozenLayers, sizes: SequenceSizes) -> None:
        super().__init__()
        self.frozen = frozen
        self.reader = SequenceReader()
        self.writer = SequenceWriter(sizes)

    def forward(self, ids: Tensor, mask: Tensor, written: Tensor, home: Tensor, absent: Tensor) -> Tensor:
        """Return logits (batch, written, symbols) in float32; ids (batch, tokens), the others as SequenceWriter's."""
        with torch.no_grad(), half_precision():
            hidden = self.frozen(ids, mask).float()
        with half_precision():
            logits: Tensor = self.writer(written, self.reader(hidden, mask), mask, home, absent)
        return logits.float()
