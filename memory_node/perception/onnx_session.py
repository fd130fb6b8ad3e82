"""An ONNX model behind onnxruntime, opened from any path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.domain.onnx_runtime import onnxruntime

_SUFFIX = "ExecutionProvider"


def open_session(path: Path, threads: int = 2, providers: Sequence[str] = ("CPU",)) -> onnxruntime.InferenceSession:
    """Open a model; providers: what may run it, the first choice first (CPU, CUDA, TensorRT, OpenVINO, ...).

    Raises:
        ResourceMissingError: there is no such file.
        InvalidValueError: the file is no model that onnxruntime can run, or a provider is not installed.
    """
    if not path.is_file():
        raise ResourceMissingError(f"{path}: no such ONNX model; give the path of an .onnx file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # By default threads that wait for work keep their cores busy, which the rest of a robot needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=_installed(providers))
    except InvalidValueError:
        raise
    except Exception as error:  # onnxruntime's errors share no base class
        raise InvalidValueError(f"{path}: not an ONNX model that onnxruntime can run: {error}") from error


def _installed(providers: Sequence[str]) -> list[str]:
    known = {name.removesuffix(_SUFFIX).lower(): name for name in onnxruntime.get_available_providers()}
    missing = [name for name in providers if name.removesuffix(_SUFFIX).lower() not in known]
    if missing or not providers:
        have = ", ".join(name.removesuffix(_SUFFIX) for name in known.values())
        raise InvalidValueError(f"onnxruntime cannot run on {', '.join(missing) or 'nothing'}; installed are {have}")
    return [known[name.removesuffix(_SUFFIX).lower()] for name in providers]
