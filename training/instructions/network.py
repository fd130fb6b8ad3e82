"""The instruction model (torch): MiniLM's first layers, the last fine-tuned, a head for each slot; written as ONNX."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from memory_node.domain.skill_library import GOALS
from memory_node.planner.reading.trained_reader import NOTHING, SEVERAL

HIDDEN = 384
_HEADS = 12
_EPSILON = 1e-12
_UNKNOWN = 100  # [UNK] of BERT's vocabulary
FROZEN_LAYERS, TUNED_LAYERS = 3, 1


class EncoderLayer(nn.Module):
    """One BERT layer (Devlin et al. 2019) with MiniLM's sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.mixed = nn.Linear(HIDDEN, HIDDEN)
        self.inner = nn.Linear(HIDDEN, 4 * HIDDEN)
        self.outer = nn.Linear(4 * HIDDEN, HIDDEN)
        self.norm_attention = nn.LayerNorm(HIDDEN, eps=_EPSILON)
        self.norm_output = nn.LayerNorm(HIDDEN, eps=_EPSILON)

    def load(self, weights: Mapping[str, NDArray[np.float32]], layer: int) -> None:
        """Take over layer number `layer` of the published weights."""
        stem = f"encoder.layer.{layer}"
        parts = [f"{stem}.attention.self.{part}" for part in ("query", "key", "value")]
        sources = {
            "joined": None,
            "mixed": f"{stem}.attention.output.dense",
            "inner": f"{stem}.intermediate.dense",
            "outer": f"{stem}.output.dense",
            "norm_attention": f"{stem}.attention.output.LayerNorm",
            "norm_output": f"{stem}.output.LayerNorm",
        }
        for name, source in sources.items():
            module = getattr(self, name)
            for kind in ("weight", "bias"):
                names = [f"{part}.{kind}" for part in parts] if source is None else [f"{source}.{kind}"]
                value = np.concatenate([weights[one] for one in names])
                getattr(module, kind).data.copy_(torch.from_numpy(np.ascontiguousarray(value)))

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return (batch, tokens, 384) from the same; mask (batch, tokens) is 1 where there is a token."""
        batch, tokens = hidden.shape[0], hidden.shape[1]
        size = HIDDEN // _HEADS
        joined = self.joined(hidden).reshape(batch, tokens, 3, _HEADS, size).permute(2, 0, 3, 1, 4)
        scores = joined[0] @ joined[1].transpose(-1, -2) / size**0.5
        scores = scores + (mask[:, None, None, :] - 1.0) * 1e9
        mixed = (scores.softmax(-1) @ joined[2]).permute(0, 2, 1, 3).reshape(batch, tokens, HIDDEN)
        hidden = self.norm_attention(hidden + self.mixed(mixed))
        return self.norm_output(hidden + self.outer(nn.functional.gelu(self.inner(hidden))))


class FrozenLayers(nn.Module):
    """Token embeddings and the first layers, as published: ids (batch, tokens) -> hidden (batch, tokens, 384).

    kept: ids of the word pieces whose embeddings are shipped; all others are read as [UNK].
    """

    rows: Tensor

    def __init__(self, weights: Mapping[str, NDArray[np.float32]], layers: int, kept: NDArray[np.int64]) -> None:
        super().__init__()
        table = weights["embeddings.word_embeddings.weight"]
        rows = np.full(len(table), int(np.flatnonzero(kept == _UNKNOWN)[0]), dtype=np.int32)
        rows[kept] = np.arange(len(kept))
        self.register_buffer("rows", torch.from_numpy(rows))
        self.words = nn.Embedding.from_pretrained(torch.from_numpy(table[kept]))
        table = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        self.positions = nn.Embedding.from_pretrained(torch.from_numpy(table[:128].copy()))
        self.norm = nn.LayerNorm(HIDDEN, eps=_EPSILON)
        for kind in ("weight", "bias"):
            getattr(self.norm, kind).data.copy_(torch.from_numpy(weights[f"embeddings.LayerNorm.{kind}"]))
        self.layers = nn.ModuleList(EncoderLayer() for _ in range(layers))
        for index, layer in enumerate(self.layers):
            cast(EncoderLayer, layer).load(weights, index)
        self.requires_grad_(False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the hidden states after the frozen layers."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.norm(self.words(self.rows[ids]) + self.positions(positions))
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


@dataclass(frozen=True)
class HeadSizes:
    """How many kinds and classes (the empty one included) the heads tell apart, and the width of the home's vector."""

    kinds: int
    classes: int
    home: int
    width: int = 192


MODEL_KINDS = (*(kind.value for kind, goal in GOALS.items() if goal.learnt), NOTHING, SEVERAL)
SLOTS = ("kind", "target", "parent", "container", "light", "sliced")
# which part of the home's vector tells whether a slot's classes can be there: 0 movable things, 1 fixtures
_HELD_BY = {"target": 0, "container": 0, "parent": 1, "light": 1}
_ABSENT = -6.0  # added to the logit of a class that the home is not known to have: unlikely, not impossible


class InstructionHeads(nn.Module):
    """The tuned layers and a head for each slot: every slot attends to the words that matter to it."""

    def __init__(self, sizes: HeadSizes) -> None:
        super().__init__()
        self.tuned = nn.ModuleList(EncoderLayer() for _ in range(TUNED_LAYERS))
        self.queries = nn.Parameter(torch.randn(len(SLOTS), HIDDEN) * 0.05)
        self.home = nn.Sequential(nn.Linear(sizes.home, 128), nn.GELU(), nn.Linear(128, 128))
        outputs = {"kind": sizes.kinds, "sliced": 2}
        self.hidden = nn.ModuleDict(
            {slot: nn.Linear(2 * HIDDEN + 128, sizes.width) for slot in SLOTS},
        )
        self.output = nn.ModuleDict({slot: nn.Linear(sizes.width, outputs.get(slot, sizes.classes)) for slot in SLOTS})
        self.dropout = nn.Dropout(0.2)

    def forward(self, hidden: Tensor, mask: Tensor, home: Tensor) -> tuple[Tensor, ...]:
        """Return the logits of every slot, in the order of SLOTS."""
        absence = _absence(home)
        hidden = self.dropout(hidden)
        for layer in self.tuned:
            hidden = layer(hidden, mask)
        scores = hidden @ self.queries.T + (mask[:, :, None] - 1.0) * 1e9
        pooled = scores.softmax(1).transpose(1, 2) @ hidden
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        known = self.home(home)
        logits = []
        for index, slot in enumerate(SLOTS):
            features = torch.cat((pooled[:, index], mean, known), dim=-1)
            inner = nn.functional.gelu(self.hidden[slot](self.dropout(features)))
            scores = self.output[slot](self.dropout(inner))
            logits.append(scores + absence[_HELD_BY[slot]] if slot in _HELD_BY else scores)
        return tuple(logits)


def _absence(home: Tensor) -> tuple[Tensor, Tensor]:
    """Return what classes lose that a home lacks, where its movable things and where its fixtures are known."""
    width = home.shape[1] // 2
    things, fixtures = home[:, :width], home[:, width:]
    missing = 1.0 - (things + fixtures).clamp(max=1.0)
    missing = torch.cat((torch.zeros_like(missing[:, :1]), missing[:, 1:]), dim=1)  # the empty class is everywhere
    return tuple(  # type: ignore[return-value]
        _ABSENT * missing * part.sum(1, keepdim=True).clamp(max=1.0) for part in (things, fixtures)
    )


class InstructionModel(nn.Module):
    """Frozen layers and heads in one graph, as it is shipped."""

    def __init__(self, frozen: FrozenLayers, heads: InstructionHeads) -> None:
        super().__init__()
        self.frozen = frozen
        self.heads = heads

    def forward(self, ids: Tensor, mask: Tensor, home: Tensor) -> tuple[Tensor, ...]:
        """Return the logits of every slot: ids (batch, tokens), mask likewise, home (batch, classes)."""
        floats = mask.to(torch.float32)
        logits: tuple[Tensor, ...] = self.heads(self.frozen(ids, floats), floats, home)
        return logits


Axes = Mapping[int, str]


def write_weights(
    model: InstructionModel,
    classes: Sequence[str],
    seen: Mapping[str, Mapping[str, Sequence[str]]],
    tokenizer: Path,
    folder: Path,
) -> None:
    """Write instructions.onnx, labels.json and tokenizer.json to `folder`. seen: kind -> slot -> classes."""
    folder.mkdir(parents=True, exist_ok=True)
    model.eval()
    ids = torch.ones((2, 9), dtype=torch.int64)
    axes = {0: "batch", 1: "tokens"}
    inputs = {
        "input_ids": (ids, axes),
        "attention_mask": (torch.ones_like(ids), axes),
        "home": (torch.zeros((2, 2 * len(classes))), {0: "batch"}),
    }
    write_int8(model, inputs, {slot: {} for slot in SLOTS}, folder / "instructions.onnx")
    labels = {"kinds": list(MODEL_KINDS), "classes": list(classes), "seen": seen}
    (folder / "labels.json").write_text(json.dumps(labels) + "\n")
    shutil.copyfile(tokenizer, folder / "tokenizer.json")


def write_int8(
    module: nn.Module, inputs: Mapping[str, tuple[torch.Tensor, Axes]], outputs: Mapping[str, Axes], target: Path
) -> None:
    """Write a module as an ONNX graph with int8 weights. inputs: by name an example and its axes of any length."""
    axes = {name: axes for name, (_, axes) in inputs.items()} | dict(outputs)
    with tempfile.TemporaryDirectory() as scratch:
        exact = Path(scratch) / "exact.onnx"
        torch.onnx.export(
            module,
            tuple(example for example, _ in inputs.values()),
            str(exact),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: dict(one) for name, one in axes.items() if one},
            opset_version=17,
            dynamo=False,
        )
        kinds = ["MatMul", "Gather", "Gemm"]
        quantize_dynamic(exact, str(target), weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=kinds)
