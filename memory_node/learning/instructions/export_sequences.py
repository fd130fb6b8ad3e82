"""Writes the reader of several goals as two int8 ONNX graphs with their symbols beside them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from memory_node.learning.instructions.network import HIDDEN
from memory_node.learning.instructions.sequence_network import WIDTH, SequenceReader, SequenceWriter


def write_sequence_weights(
    reader: SequenceReader,
    writer: SequenceWriter,
    symbols: Sequence[str],
    classes: Sequence[str],
    strange: Sequence[str],
    folder: Path,
) -> None:
    """Write sequence_reader.onnx, sequence_writer.onnx and sequence_labels.json to `folder`.

    strange: classes that none of the homes had that were learnt from.
    """
    folder.mkdir(parents=True, exist_ok=True)
    reader.eval()
    writer.eval()
    mask = torch.ones((2, 9))
    _export(folder / "sequence_reader.onnx", reader, {"hidden": torch.zeros((2, 9, HIDDEN)), "mask": mask}, "words")
    feed = {
        "written": torch.ones((2, 5), dtype=torch.int64),
        "words": torch.zeros((2, 9, WIDTH)),
        "mask": mask,
        "home": torch.zeros((2, 2 * len(classes))),
        "absent": torch.zeros((2, len(symbols))),
    }
    _export(folder / "sequence_writer.onnx", writer, feed, "logits")
    labels = {"symbols": list(symbols), "classes": list(classes), "strange": list(strange)}
    labels["longest"] = writer.positions.num_embeddings
    (folder / "sequence_labels.json").write_text(json.dumps(labels) + "\n")


def _export(target: Path, module: nn.Module, feed: dict[str, torch.Tensor], output: str) -> None:
    tokens = {0: "batch", 1: "tokens"}
    axes = {"hidden": tokens, "mask": tokens, "words": tokens, "written": {0: "batch", 1: "written"}}
    axes.update({"home": {0: "batch"}, "absent": {0: "batch"}, "logits": {0: "batch", 1: "written"}})
    with tempfile.TemporaryDirectory() as scratch:
        exact = Path(scratch) / "exact.onnx"
        torch.onnx.export(
            module,
            tuple(feed.values()),
            str(exact),
            input_names=list(feed),
            output_names=[output],
            dynamic_axes={name: axes[name] for name in (*feed, output)},
            opset_version=17,
            dynamo=False,
        )
        kinds = ["MatMul", "Gather", "Gemm"]
        quantize_dynamic(exact, str(target), weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=kinds)
