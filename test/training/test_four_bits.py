"""Weights in four bits give what the weights gave, up to half a step of their scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from training.instructions.shrink_vocabulary import BLOCK, pack_layers, pack_table, packed


@pytest.mark.parametrize("columns", [BLOCK, 3 * BLOCK, BLOCK + 5])
def test_each_weight_is_within_half_a_step_of_its_scale(columns: int) -> None:
    weights = np.random.default_rng(0).normal(size=(7, columns)).astype(np.float32)
    levels, scales, zeros = packed(weights)
    blocks = levels.reshape(7, -1, BLOCK).astype(np.float32) - zeros[..., None]
    restored = (blocks * scales[..., None]).reshape(7, -1)[:, :columns]
    steps = np.repeat(scales, BLOCK, axis=1)[:, :columns]
    assert levels.max() <= 15
    assert np.all(np.abs(restored - weights) <= steps + 1e-6)


def small_reader(folder: Path) -> tuple[Path, NDArray[np.float32], NDArray[np.float32]]:
    """Write a graph that looks words up and multiplies them, in eight bits; return it with its exact weights."""
    rng = np.random.default_rng(1)
    table, layer = (rng.normal(size=shape).astype(np.float32) for shape in ((40, 128), (128, 16)))
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["words"]),
        helper.make_node("Add", ["words", "bias"], ["moved"]),
        helper.make_node("MatMul", ["moved", "w"], ["y"]),
    ]
    tensors = {"table": table, "bias": np.ones(128, np.float32), "w": layer}
    graph = helper.make_graph(
        nodes,
        "reader",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 16])],
        [numpy_helper.from_array(values, name) for name, values in tensors.items()],
    )
    exact, eight = folder / "exact.onnx", folder / "eight.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(exact))
    quantize_dynamic(exact, eight, weight_type=QuantType.QInt8)
    return eight, table, layer


def test_packed_graph_looks_up_the_kept_rows_and_multiplies(tmp_path: Path) -> None:
    path, table, layer = small_reader(tmp_path)
    model = onnx.load(str(path))
    order = np.array([3, 5, 8])
    (name,) = (one.name for one in model.graph.initializer if one.name.startswith("table") and len(one.dims) == 2)
    pack_table(model, name, order)
    pack_layers(model)
    onnx.save(model, str(path))
    found = onnxruntime.InferenceSession(str(path)).run(None, {"ids": np.arange(3)})[0]
    wanted = (table[order] + 1) @ layer
    assert not {"DequantizeLinear", "MatMulInteger"} & {node.op_type for node in model.graph.node}
    assert np.corrcoef(found.ravel(), wanted.ravel())[0, 1] > 0.98
