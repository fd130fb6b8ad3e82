"""Writes the trained model as an int8 ONNX graph with the tokenizer and labels beside it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from memory_node.learning.instructions.features import MODEL_KINDS
from memory_node.learning.instructions.network import SLOTS, InstructionModel


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
    home = torch.zeros((2, 2 * len(classes)), dtype=torch.float32)
    axes = {0: "batch", 1: "tokens"}
    with tempfile.TemporaryDirectory() as scratch:
        exact = Path(scratch) / "exact.onnx"
        torch.onnx.export(
            model,
            (ids, torch.ones_like(ids), home),
            str(exact),
            input_names=["input_ids", "attention_mask", "home"],
            output_names=list(SLOTS),
            dynamic_axes={"input_ids": axes, "attention_mask": axes, "home": {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
        kinds = ["MatMul", "Gather", "Gemm"]
        target = str(folder / "instructions.onnx")
        quantize_dynamic(exact, target, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=kinds)
    labels = {"kinds": list(MODEL_KINDS), "classes": list(classes), "seen": seen}
    (folder / "labels.json").write_text(json.dumps(labels) + "\n")
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
