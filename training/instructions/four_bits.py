"""Packs the weights of an exported reader in four bits: blocks of a row share a scale and a zero point."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

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
