"""Tiny ONNX models that give fixed outputs, as exports of any layout would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")


def save_model(
    path: Path,
    outputs: dict[str, np.ndarray],
    image: tuple[str, list[Any]] = ("images", [1, 3, 64, 64]),
    others: dict[str, tuple[list[Any], str]] | None = None,
    metadata: dict[str, str] | None = None,
) -> Path:
    """Save a model: outputs of their own dtype, image input by name and shape, other inputs by name with shape and
    type ("INT64"); every input is used, with weight zero."""
    kinds = {"f": onnx.TensorProto.FLOAT, "i": onnx.TensorProto.INT64}
    make, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    inputs = [info(image[0], onnx.TensorProto.FLOAT, image[1])]
    nodes = [make("ReduceSum", [image[0]], ["sum0"], keepdims=0)]
    for index, (name, (shape, kind)) in enumerate((others or {}).items(), start=1):
        inputs.append(info(name, getattr(onnx.TensorProto, kind), shape))
        nodes.append(make("Cast", [name], [f"float{index}"], to=onnx.TensorProto.FLOAT))
        nodes.append(make("ReduceSum", [f"float{index}"], [f"part{index}"], keepdims=0))
        nodes.append(make("Add", [f"sum{index - 1}", f"part{index}"], [f"sum{index}"]))
    nodes.append(make("Mul", [f"sum{len(inputs) - 1}", "zero"], ["nothing"]))
    constants = {"zero": np.float32(0.0)}
    listed = []
    for name, array in outputs.items():
        kind = "i" if array.dtype.kind == "i" else "f"
        constants[f"{name}_fixed"] = array.astype(np.int64 if kind == "i" else np.float32)
        nothing = "nothing"
        if kind == "i":
            nodes.append(make("Cast", ["nothing"], [f"{name}_nothing"], to=onnx.TensorProto.INT64))
            nothing = f"{name}_nothing"
        nodes.append(make("Add", [f"{name}_fixed", nothing], [name]))
        listed.append(info(name, kinds[kind], list(array.shape)))
    tensors = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = onnx.helper.make_graph(nodes, "tiny", inputs, listed, tensors)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    for key, value in (metadata or {}).items():
        model.metadata_props.add(key=key, value=value)
    onnx.save(model, str(path))
    return path
