"""An ONNX model behind onnxruntime, opened from any path."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.domain.onnx_runtime import onnxruntime

_SUFFIX = "ExecutionProvider"
_CPU = f"CPU{_SUFFIX}"
_LOG = logging.getLogger(__name__)


def open_session(path: Path, threads: int = 2, providers: Sequence[str] = ("CPU",)) -> onnxruntime.InferenceSession:
    """Open a model; providers: what may run it, the first choice first (CPU, CUDA, TensorRT, OpenVINO, ...). Where CPU
    is among them, it stands in with a warning for those that are not installed or do not load.

    Raises:
        ResourceMissingError: there is no such file.
        InvalidValueError: the file is no model that onnxruntime can run, a provider does not exist, or none of them
            runs here.
    """
    if not path.is_file():
        raise ResourceMissingError(f"{path}: no such ONNX model; give the path of an .onnx file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # By default threads that wait for work keep their cores busy, which the rest of a robot needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    asked = _full_names(providers)
    installed = [name for name in asked if name in onnxruntime.get_available_providers()]
    if not installed:
        raise _refusal(path, asked, onnxruntime.get_available_providers())
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=installed)
    except Exception as error:  # onnxruntime's errors share no base class
        raise InvalidValueError(f"{path}: not an ONNX model that onnxruntime can run: {error}") from error
    # onnxruntime falls back to the CPU without an error, for want of a driver's library for example.
    running = session.get_providers()
    if asked[0] not in running:
        if _CPU not in asked:
            raise _refusal(path, asked, running)
        _LOG.warning("%s: asked for %s, runs on %s", path, _short(asked[:1]), _short(running))
    return session


def running_on(session: onnxruntime.InferenceSession) -> str:
    """Return what runs a model, the first choice first."""
    return _short(session.get_providers())


def _full_names(providers: Sequence[str]) -> list[str]:
    known = {_short([name]).lower(): name for name in onnxruntime.get_all_providers()}
    asked = [name.removesuffix(_SUFFIX).lower() for name in providers if name]
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        have = ", ".join(_short([name]) for name in known.values())
        raise InvalidValueError(f"onnxruntime has no provider {', '.join(unknown) or 'of no name'}: expected {have}")
    return [known[name] for name in asked]


def _refusal(path: Path, asked: Sequence[str], here: Sequence[str]) -> InvalidValueError:
    return InvalidValueError(
        f"{path}: asked for {_short(asked)}, here onnxruntime runs on {_short(here)} alone: install the onnxruntime "
        f"and the driver for it, or add CPU to the parameter providers ({_short([asked[0], _CPU])})"
    )


def _short(names: Sequence[str]) -> str:
    return ", ".join(name.removesuffix(_SUFFIX) for name in names)
