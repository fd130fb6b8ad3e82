"""Writes the ONNX graph of a BERT sentence encoder (all-MiniLM-L6-v2) from its published weights, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError


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


# The graph in ONNX's text syntax (https://onnx.ai/onnx/repo-docs/Syntax.html); <NAME> is a size. One sentence only: the
# vector of token type 0 is a part of the position table. The length divides out of a unit vector, so the sum over the
# mask is as good as the mean.
_GRAPH = """
<ir_version: 9, opset_import: ["" : 20], producer_name: "robot_memory">
sentence_encoder (int64[batch, tokens] input_ids, int64[batch, tokens] attention_mask)
    => (float[batch, <HIDDEN>] embedding)
<
    int64[1] zero = {0}, int64[1] axis_tokens = {1}, int64[1] axis_last = {2}, int64[2] axes_heads = {1, 2},
    float one = {1.0}, float masked = {-1e9},
    int64[5] joined_heads = {0, 0, 3, <HEADS>, <SIZE>}, int64[4] heads = {0, 0, <HEADS>, <SIZE>},
    int64[3] whole = {0, 0, <HIDDEN>}
>
{
    length = Shape <start = 1, end = 2> (input_ids)
    positions = Slice (position_embeddings, zero, length, zero)
    words = Gather (word_embeddings, input_ids)
    summed = Add (words, positions)
    hidden_0 = LayerNormalization <axis = -1, epsilon = <EPSILON>> (summed, embeddings_scale, embeddings_offset)
    mask = Cast <to = 1> (attention_mask)
    absent = Sub (one, mask)
    far = Mul (absent, masked)
    bias = Unsqueeze (far, axes_heads)
    <LAYERS>
    is_token = Unsqueeze (mask, axis_last)
    tokens_alone = Mul (hidden_<COUNT>, is_token)
    total = ReduceSum <keepdims = 0> (tokens_alone, axis_tokens)
    embedding = LpNormalization <axis = -1, p = 2> (total)
}
"""
# Queries, keys and values in one product: three small ones cost more than one large one.
_LAYER = """
    <L>product = MatMul (hidden_<N>, <L>joined_weight)
    <L>joined = Add (<L>product, <L>joined_bias)
    <L>by_head = Reshape (<L>joined, joined_heads)
    <L>q3, <L>k3, <L>v3 = Split <axis = 2, num_outputs = 3> (<L>by_head)
    <L>q = Reshape (<L>q3, heads)
    <L>k = Reshape (<L>k3, heads)
    <L>v = Reshape (<L>v3, heads)
    <L>queries = Transpose <perm = [0, 2, 1, 3]> (<L>q)
    <L>keys = Transpose <perm = [0, 2, 3, 1]> (<L>k)
    <L>values = Transpose <perm = [0, 2, 1, 3]> (<L>v)
    <L>likeness = MatMul (<L>queries, <L>keys)
    <L>scores = Add (<L>likeness, bias)
    <L>shares = Softmax <axis = -1> (<L>scores)
    <L>mixed = MatMul (<L>shares, <L>values)
    <L>side_by_side = Transpose <perm = [0, 2, 1, 3]> (<L>mixed)
    <L>attended = Reshape (<L>side_by_side, whole)
    <L>told = MatMul (<L>attended, <L>output_weight)
    <L>told_off = Add (<L>told, <L>output_bias)
    <L>with_it = Add (<L>told_off, hidden_<N>)
    <L>between = LayerNormalization <axis = -1, epsilon = <EPSILON>> (<L>with_it, <L>output_scale, <L>output_offset)
    <L>wide = MatMul (<L>between, <L>inner_weight)
    <L>wide_off = Add (<L>wide, <L>inner_bias)
    <L>bent = Gelu (<L>wide_off)
    <L>narrow = MatMul (<L>bent, <L>last_weight)
    <L>narrow_off = Add (<L>narrow, <L>last_bias)
    <L>with_between = Add (<L>narrow_off, <L>between)
    hidden_<NEXT> = LayerNormalization <axis = -1, epsilon = <EPSILON>> (<L>with_between, <L>last_scale, <L>last_offset)
"""


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
    layers = [_filled(_LAYER, L=f"layer_{n}_", N=n, NEXT=n + 1) for n in range(shape.layers)]
    sizes = {"HIDDEN": shape.hidden, "HEADS": shape.heads, "SIZE": shape.hidden // shape.heads}
    text = _filled(_GRAPH, LAYERS="".join(layers), COUNT=shape.layers)
    model = onnx.parser.parse_model(_filled(text, EPSILON=f"{shape.epsilon:.12f}", **sizes))
    for name, value in _constants(weights, shape).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
    onnx.checker.check_model(model, full_check=True)
    return model


def _filled(text: str, **values: object) -> str:
    for name, value in values.items():
        text = text.replace(f"<{name}>", str(value))
    return text


def _constants(weights: Mapping[str, NDArray[Any]], shape: BertShape) -> dict[str, NDArray[Any]]:
    """Return the graph's weights by their names in it: linear layers as (in, out), where torch has (out, in)."""
    table = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    found = {"word_embeddings": weights["embeddings.word_embeddings.weight"], "position_embeddings": table}
    found |= _norm("embeddings", weights, "embeddings.LayerNorm")
    # The queries take over the scale of attention, 1 / sqrt(size).
    scale = np.float32(1.0 / np.sqrt(shape.hidden // shape.heads))
    factors = {"query": scale, "key": np.float32(1.0), "value": np.float32(1.0)}
    for n in range(shape.layers):
        ours, theirs = f"layer_{n}", f"encoder.layer.{n}"
        joined = {
            kind: np.concatenate([weights[f"{theirs}.attention.self.{one}.{kind}"] * by for one, by in factors.items()])
            for kind in ("weight", "bias")
        }
        found |= {f"{ours}_joined_weight": joined["weight"].T, f"{ours}_joined_bias": joined["bias"]}
        for name, source in (("output", "attention.output"), ("inner", "intermediate"), ("last", "output")):
            dense = f"{theirs}.{source}.dense"
            found |= {
                f"{ours}_{name}_weight": weights[f"{dense}.weight"].T,
                f"{ours}_{name}_bias": weights[f"{dense}.bias"],
            }
        for name, source in (("output", "attention.output"), ("last", "output")):
            found |= _norm(f"{ours}_{name}", weights, f"{theirs}.{source}.LayerNorm")
    return found


def _norm(name: str, weights: Mapping[str, NDArray[Any]], source: str) -> dict[str, NDArray[Any]]:
    return {f"{name}_scale": weights[f"{source}.weight"], f"{name}_offset": weights[f"{source}.bias"]}
