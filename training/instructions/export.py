"""Writes the trained model as an int8 ONNX graph with the tokenizer and labels beside it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from training.instructions.features import MODEL_KINDS
from training.instructions.network import SLOTS, InstructionModel

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
