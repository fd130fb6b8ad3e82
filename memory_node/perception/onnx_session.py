"""An ONNX model behind onnxruntime, opened from any path."""

from __future__ import annotations

from pathlib import Path

import onnxruntime

from memory_node.domain.errors import InvalidValueError, ResourceMissingError


def open_session(path: Path, threads: int = 2) -> onnxruntime.InferenceSession:
    """Open a model on the CPU.

    Raises:
        ResourceMissingError: there is no such file.
        InvalidValueError: the file is no model that onnxruntime can run.
    """
    if not path.is_file():
        raise ResourceMissingError(f"{path}: no such ONNX model; give the path of an .onnx file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise InvalidValueError(f"{path}: not an ONNX model that onnxruntime can run: {error}") from error
