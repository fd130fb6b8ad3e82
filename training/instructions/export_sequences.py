"""Writes the reader of several goals as two int8 ONNX graphs with their symbols beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch

from training.instructions.acts import USER
from training.instructions.export import write_int8
from training.instructions.network import HIDDEN
from training.instructions.sequence_network import WIDTH, SequenceReader, SequenceWriter


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
    tokens, batch = {0: "batch", 1: "tokens"}, {0: "batch"}
    written = {0: "batch", 1: "written"}
    mask = (torch.ones((2, 9)), tokens)
    read = {"hidden": (torch.zeros((2, 9, HIDDEN)), tokens), "mask": mask}
    write_int8(reader, read, {"words": tokens}, folder / "sequence_reader.onnx")
    feed = {
        "written": (torch.ones((2, 5), dtype=torch.int64), written),
        "words": (torch.zeros((2, 9, WIDTH)), tokens),
        "mask": mask,
        "home": (torch.zeros((2, 2 * len(classes))), batch),
        "absent": (torch.zeros((2, len(symbols))), batch),
    }
    write_int8(writer, feed, {"logits": written}, folder / "sequence_writer.onnx")
    labels: dict[str, object] = {
        "symbols": list(symbols),
        "classes": list(classes),
        "strange": list(strange),
        "recipient": USER,
    }
    labels["longest"] = writer.positions.num_embeddings
    (folder / "sequence_labels.json").write_text(json.dumps(labels) + "\n")
