"""`memory-node train vocabulary`: drops word pieces that no instruction needs, and packs the weights in four bits.

Rarer words are then split into smaller pieces.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from tokenizers import Tokenizer

from memory_node.domain.resources import resource_path
from training.instructions.corpus import load_tasks
from training.instructions.four_bits import pack_layers, pack_table
from training.instructions.phrase_book import PHRASES

_COMMON = 11_000  # BERT numbers its pieces by how common they are
_WORDS = ("descriptions", "spoken_descriptions", "goal_patterns")
_TABLE, _ROWS = "frozen.words.weight_quantized", "frozen.rows"
_UNKNOWN = 100  # BERT's piece for what it does not know
_OUTPUTS = ("kind", "target", "parent", "container", "light", "sliced")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--weights", type=Path, required=True, help="folder with instructions.onnx and tokenizer.json")
    parser.add_argument("--tasks", type=Path, required=True, help="tasks_train.jsonl.gz: all pieces of its words stay")
    parser.add_argument("--scenes", type=Path, required=True, help="scenes.json.gz")


def run(args: argparse.Namespace) -> int:
    """Rewrite instructions.onnx and tokenizer.json of a folder in place."""
    tokenizer = Tokenizer.from_file(str(args.weights / "tokenizer.json"))
    texts = [text for task in load_tasks(args.tasks, args.scenes) for text in (*task.sentences, *sum(task.steps, ()))]
    texts += [(PHRASES / f"{name}.yaml").read_text(encoding="utf-8") for name in _WORDS]
    texts.append(resource_path("config/label_spaces/household.yaml").read_text(encoding="utf-8"))
    kept = kept_pieces(tokenizer, texts)
    shrink_tokenizer(args.weights / "tokenizer.json", kept)
    shrink_graph(args.weights / "instructions.onnx", kept)
    print(f"{len(kept)} word pieces kept")
    return 0


def kept_pieces(tokenizer: Tokenizer, texts: Iterable[str]) -> frozenset[int]:
    """Return the ids of the common pieces of plain ASCII, of single characters, and of all that `texts` are made of."""
    tokenizer.no_truncation()
    kept = {index for encoding in tokenizer.encode_batch(list(texts)) for index in encoding.ids}
    for piece, index in tokenizer.get_vocab().items():
        plain = piece.isascii() and not piece.startswith("[unused")
        if plain and (index < _COMMON or len(piece.removeprefix("##")) == 1):
            kept.add(index)
    return frozenset(kept)


def shrink_tokenizer(path: Path, kept: frozenset[int]) -> None:
    """Leave only the kept pieces in a WordPiece tokenizer's file; their ids stay."""
    loaded = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = loaded["model"]["vocab"]
    loaded["model"]["vocab"] = {piece: index for piece, index in vocabulary.items() if index in kept}
    path.write_text(json.dumps(loaded, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def shrink_graph(path: Path, kept: frozenset[int]) -> None:
    """Leave only the kept pieces' embeddings in the graph, and pack all weights in four bits."""
    model = onnx.load(str(path))
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    rows = numpy_helper.to_array(tensors[_ROWS])
    unknown = int(rows[_UNKNOWN])
    order = np.array(sorted({int(rows[index]) for index in kept} | {unknown}))
    place = {int(row): index for index, row in enumerate(order)}
    fewer = np.array([place.get(int(row), place[unknown]) for row in rows], dtype=rows.dtype)
    tensors[_ROWS].CopyFrom(numpy_helper.from_array(fewer, _ROWS))
    for output in [one for one in model.graph.output if one.name not in _OUTPUTS]:
        model.graph.output.remove(output)
    pack_table(model, _TABLE, order)
    pack_layers(model)
    onnx.save(model, str(path))
