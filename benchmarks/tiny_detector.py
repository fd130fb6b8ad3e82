"""A detector model of a few numbers, for runs that need the detector node but not what it finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

# Of an input of 64 x 64: centre, size, and a score for each of two classes (YOLO 8's layout, transposed).
_FOUND = np.array([[32.0, 32.0, 7.0, 7.0, 0.9, 0.05], [5.0, 30.0, 2.0, 2.0, 0.1, 0.1]], np.float32)


def save_tiny_detector(folder: Path) -> dict[str, str]:
    """Save a model that finds the same in every image; return the detector node's parameters, none without onnx."""
    try:
        import onnx
    except ImportError:
        return {}
    folder.mkdir()
    info, node, kind = onnx.helper.make_tensor_value_info, onnx.helper.make_node, onnx.TensorProto
    found = _FOUND.T[None]
    constants = {"fixed": found, "zero": np.array(0.0, np.float32)}
    graph = onnx.helper.make_graph(
        [
            node("ReduceSum", ["images"], ["sum"], keepdims=0),
            node("Mul", ["sum", "zero"], ["nothing"]),
            node("Add", ["fixed", "nothing"], ["out"]),
        ],
        "tiny",
        [info("images", kind.FLOAT, [1, 3, 64, 64])],
        [info("out", kind.FLOAT, list(found.shape))],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), str(folder / "tiny.onnx"))
    (folder / "names.txt").write_text("Mug\nBowl\n", encoding="utf-8")
    return {"model": str(folder / "tiny.onnx"), "class_names": str(folder / "names.txt")}
