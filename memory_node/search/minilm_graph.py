"""Writes the ONNX graph of a BERT sentence encoder (all-MiniLM-L6-v2) from its published weights, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError

OPSET = 20  # the first with Gelu
_IR_VERSION = 9
_MASKED = -1e9


@dataclass(frozen=True)
class BertShape:
    """The sizes of the encoder that its config.json gives."""

    layers: int
    heads: int
    hidden: int
    epsilon: float

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> BertShape:
        """Return the shape of a Hugging Face BERT config."""
        return cls(
            int(config["num_hidden_layers"]),
            int(config["num_attention_heads"]),
            int(config["hidden_size"]),
            float(config["layer_norm_eps"]),
        )


def load_weights(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a safetensors file by name.

    Raises:
        ResourceMissingError: the `safetensors` package is not installed.
    """
    try:
        from safetensors.numpy import load_file
    except ImportError as error:
        raise ResourceMissingError("reading weights needs `pip install robot_memory[models]`") from error
    return dict(load_file(path))


class _GraphWriter:
    """Collects the nodes and constants of an ONNX graph; every method returns the name of its result."""

    def __init__(self) -> None:
        import onnx

        self._onnx = onnx
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self.constants:
            self.constants[name] = self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def node(self, kind: str, *inputs: str, name: str = "", outputs: int = 1, **attributes: Any) -> str:
        stem = name or f"{kind}_{len(self.nodes)}"
        names = [stem] if outputs == 1 else [f"{stem}_{index}" for index in range(outputs)]
        self.nodes.append(self._onnx.helper.make_node(kind, list(inputs), names, name=f"node_{stem}", **attributes))
        return stem

    def dense(self, value: str, name: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
        """Apply a linear layer whose weight is stored as (out, in), torch's way."""
        product = self.node("MatMul", value, self.constant(f"{name}.weight", weight.T))
        return self.node("Add", product, self.constant(f"{name}.bias", bias))

    def layer_norm(self, value: str, name: str, weights: Mapping[str, NDArray[Any]], epsilon: float) -> str:
        scale = self.constant(f"{name}.weight", weights[f"{name}.weight"])
        bias = self.constant(f"{name}.bias", weights[f"{name}.bias"])
        return self.node("LayerNormalization", value, scale, bias, axis=-1, epsilon=epsilon)

    def shape(self, *sizes: int) -> str:
        text = "shape_" + "_".join(str(size) for size in sizes).replace("-", "m")
        return self.constant(text, np.array(sizes, dtype=np.int64))


def build_graph(weights: Mapping[str, NDArray[Any]], shape: BertShape) -> Any:
    """Return the ONNX model: input_ids and attention_mask (batch, tokens) int64 -> embedding (batch, hidden) float32.

    The embedding is the mean of the last hidden states over the mask, scaled to unit length (the pooling and normalize
    modules published with the model). Source of the architecture: Devlin et al. 2019.

    Raises:
        ResourceMissingError: the `onnx` package is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise ResourceMissingError("building the ONNX graph needs `pip install robot_memory[models]`") from error
    writer = _GraphWriter()
    hidden = _embeddings(writer, weights, shape)
    mask = writer.node("Cast", "attention_mask", to=onnx.TensorProto.FLOAT)
    bias = _attention_bias(writer, mask)
    for layer in range(shape.layers):
        hidden = _layer(writer, f"encoder.layer.{layer}", hidden, bias, weights, shape)
    _pool(writer, hidden, mask)
    value_info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        writer.nodes,
        "sentence_encoder",
        [
            value_info("input_ids", onnx.TensorProto.INT64, ["batch", "tokens"]),
            value_info("attention_mask", onnx.TensorProto.INT64, ["batch", "tokens"]),
        ],
        [value_info("embedding", onnx.TensorProto.FLOAT, ["batch", shape.hidden])],
        initializer=list(writer.constants.values()),
    )
    model = onnx.helper.make_model(
        graph,
        producer_name="robot_memory",
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def _embeddings(writer: _GraphWriter, weights: Mapping[str, NDArray[Any]], shape: BertShape) -> str:
    words = writer.constant("word_embeddings", weights["embeddings.word_embeddings.weight"])
    # One sentence only: token type 0 everywhere, so its vector is added to the position table once, here.
    table = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    positions = writer.constant("position_embeddings", table)
    tokens = writer.node("Shape", "input_ids", start=1, end=2)
    zero = writer.constant("zero", np.array([0], dtype=np.int64))
    used = writer.node("Slice", positions, zero, tokens, zero)
    summed = writer.node("Add", writer.node("Gather", words, "input_ids"), used)
    return writer.layer_norm(summed, "embeddings.LayerNorm", weights, shape.epsilon)


def _attention_bias(writer: _GraphWriter, mask: str) -> str:
    axes = writer.constant("axes_heads", np.array([1, 2], dtype=np.int64))
    absent = writer.node("Sub", writer.constant("one", np.array(1.0, dtype=np.float32)), mask)
    bias = writer.node("Mul", absent, writer.constant("masked", np.array(_MASKED, dtype=np.float32)))
    return writer.node("Unsqueeze", bias, axes)


def _layer(
    writer: _GraphWriter, name: str, hidden: str, bias: str, weights: Mapping[str, NDArray[Any]], shape: BertShape
) -> str:
    attended = _attention(writer, f"{name}.attention.self", hidden, bias, weights, shape)
    for source, block, activation in (
        (attended, f"{name}.attention.output", False),
        ("", f"{name}.output", True),
    ):
        value = source
        if activation:
            inner = f"{name}.intermediate.dense"
            value = writer.dense(hidden, inner, weights[f"{inner}.weight"], weights[f"{inner}.bias"])
            value = writer.node("Gelu", value)
        dense = f"{block}.dense"
        value = writer.dense(value, dense, weights[f"{dense}.weight"], weights[f"{dense}.bias"])
        hidden = writer.layer_norm(writer.node("Add", value, hidden), f"{block}.LayerNorm", weights, shape.epsilon)
    return hidden


def _attention(
    writer: _GraphWriter, name: str, hidden: str, bias: str, weights: Mapping[str, NDArray[Any]], shape: BertShape
) -> str:
    size = shape.hidden // shape.heads
    # Queries, keys and values in one product: three small ones cost more than one large one. The queries take over
    # the scale 1 / sqrt(size).
    scale = np.float32(1.0 / np.sqrt(size))
    parts = ("query", "key", "value")
    factors = (scale, np.float32(1.0), np.float32(1.0))
    weight = np.concatenate([weights[f"{name}.{part}.weight"] * factor for part, factor in zip(parts, factors)])
    offset = np.concatenate([weights[f"{name}.{part}.bias"] * factor for part, factor in zip(parts, factors)])
    joined = writer.dense(hidden, f"{name}.joined", weight, offset)
    joined = writer.node("Reshape", joined, writer.shape(0, 0, 3, shape.heads, size))
    split = writer.node("Split", joined, outputs=3, axis=2, num_outputs=3)
    heads = writer.shape(0, 0, shape.heads, size)
    query, key, value = (writer.node("Reshape", f"{split}_{index}", heads) for index in range(3))
    query = writer.node("Transpose", query, perm=[0, 2, 1, 3])
    key = writer.node("Transpose", key, perm=[0, 2, 3, 1])
    value = writer.node("Transpose", value, perm=[0, 2, 1, 3])
    scores = writer.node("Add", writer.node("MatMul", query, key), bias)
    mixed = writer.node("MatMul", writer.node("Softmax", scores, axis=-1), value)
    mixed = writer.node("Transpose", mixed, perm=[0, 2, 1, 3])
    return writer.node("Reshape", mixed, writer.shape(0, 0, shape.hidden))


def _pool(writer: _GraphWriter, hidden: str, mask: str) -> str:
    last = writer.constant("axis_last", np.array([2], dtype=np.int64))
    tokens = writer.constant("axis_tokens", np.array([1], dtype=np.int64))
    weighted = writer.node("Mul", hidden, writer.node("Unsqueeze", mask, last))
    # The length divides out of a unit vector, so the sum over the mask is as good as the mean.
    total = writer.node("ReduceSum", weighted, tokens, keepdims=0)
    return writer.node("LpNormalization", total, name="embedding", axis=-1, p=2)
