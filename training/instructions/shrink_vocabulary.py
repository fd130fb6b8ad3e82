"""`memory-node train vocabulary`: drops word pieces that no instruction needs, and packs the weights in four bits.

Rarer words are then split into smaller pieces."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper
from tokenizers import Tokenizer

from memory_node.domain.resources import resource_path
from training.instructions.corpus import load_tasks
from training.instructions.wording import PHRASES

BLOCK = 64  # weights that share a scale; with 32 the file has 0.8 MB more and reads no better
_LEVELS = 15
_DOMAIN = "com.microsoft"


def packed(weights: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint8]]:
    """Return levels 0 to 15 (rows, columns), scales and zero points (rows, blocks) of weights (rows, columns)."""
    rows, columns = weights.shape
    padded = np.pad(weights, ((0, 0), (0, -columns % BLOCK)))
    blocks = padded.reshape(rows, -1, BLOCK)
    lowest, highest = np.minimum(blocks.min(2), 0.0), np.maximum(blocks.max(2), 0.0)
    scales = np.maximum((highest - lowest) / _LEVELS, 1e-9).astype(np.float32)
    zeros = np.clip(np.rint(-lowest / scales), 0, _LEVELS).astype(np.uint8)
    levels = np.clip(np.rint(blocks / scales[..., None]) + zeros[..., None], 0, _LEVELS).astype(np.uint8)
    return levels.reshape(rows, -1), scales, zeros


def pack_layers(model: onnx.ModelProto) -> None:
    """Put a MatMulNBits in place of each product of integers that quantize_dynamic has written."""
    graph = model.graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    maker = {name: node for node in graph.node for name in node.output}
    for product in [node for node in graph.node if node.op_type == "MatMulInteger"]:
        cast = _reader_of(graph, product.output[0])
        scaled = _reader_of(graph, cast.output[0])
        factors = maker[next(name for name in scaled.input if name != cast.output[0])]
        scale = next(tensors[name] for name in factors.input if name in tensors)
        weights = (tensors[product.input[1]].astype(np.float32) - np.float32(tensors[product.input[3]])) * scale
        sentence = maker[product.input[0]].input[0]
        node = _product(graph, sentence, weights.T, product.input[1].removesuffix("_quantized"))
        node.output.append(scaled.output[0])
        graph.node.insert(list(graph.node).index(scaled), node)
        graph.node.remove(scaled)
    _finish(model)


def _reader_of(graph: onnx.GraphProto, name: str) -> NodeProto:
    return next(node for node in graph.node if name in node.input)


def _product(graph: onnx.GraphProto, sentence: str, weights: NDArray[np.float32], name: str) -> NodeProto:
    """Return a node that multiplies with weights (outputs, inputs), whose tensors are added to the graph."""
    outputs, inputs = weights.shape
    levels, scales, zeros = packed(weights)
    blocks = _nibbles(levels).reshape(outputs, -1, BLOCK // 2)
    parts: dict[str, NDArray[Any]] = {"levels": blocks, "scales": scales.ravel(), "zeros": _nibbles(zeros).ravel()}
    names = [f"{name}.{part}" for part in parts]
    graph.initializer.extend(numpy_helper.from_array(values, one) for one, values in zip(names, parts.values()))
    shape: dict[str, Any] = {"K": inputs, "N": outputs, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
    return helper.make_node("MatMulNBits", [sentence, *names], [], domain=_DOMAIN, **shape)


def pack_table(model: onnx.ModelProto, table: str, order: NDArray[np.intp]) -> None:
    """Leave the rows `order` of an embedding table that quantize_dynamic has written, in four bits.

    It has (rows, columns), and columns is a multiple of BLOCK.
    """
    graph = model.graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    lookup = _reader_of(graph, table)
    scaled = _reader_of(graph, lookup.output[0])
    scale, zero = (tensors[name].astype(np.float32) for name in scaled.input[1:3])
    levels, scales, zeros = packed((tensors[table][order].astype(np.float32) - zero) * scale)
    for part, values in (("levels", levels), ("zeros", zeros)):
        kind, raw = onnx.TensorProto.UINT4, _nibbles(values).tobytes()
        graph.initializer.append(helper.make_tensor(f"{table}.{part}", kind, values.shape, raw, raw=True))
    graph.initializer.append(numpy_helper.from_array(scales, f"{table}.scales"))
    inputs = [f"{table}.levels", lookup.input[1], f"{table}.scales", f"{table}.zeros"]
    shape: dict[str, Any] = {"gather_axis": 0, "quantize_axis": 1, "block_size": BLOCK}
    node = helper.make_node("GatherBlockQuantized", inputs, [scaled.output[0]], domain=_DOMAIN, **shape)
    graph.node.insert(list(graph.node).index(lookup), node)
    graph.node.remove(scaled)
    _finish(model)


def _nibbles(levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return two levels in each byte, the first in the lower half; an odd last one stands alone."""
    even = np.pad(levels, ((0, 0), (0, levels.shape[1] % 2)))
    return (even[:, 0::2] | (even[:, 1::2] << 4)).astype(np.uint8)


def _finish(model: onnx.ModelProto) -> None:
    """Drop nodes and tensors that no output needs any more."""
    graph = model.graph
    while True:
        used = {name for node in graph.node for name in node.input} | {one.name for one in graph.output}
        idle = [node for node in graph.node if used.isdisjoint(node.output)]
        if not idle:
            break
        for node in idle:
            graph.node.remove(node)
    for tensor in [one for one in graph.initializer if one.name not in used]:
        graph.initializer.remove(tensor)
    if all(one.domain != _DOMAIN for one in model.opset_import):
        model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))


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
