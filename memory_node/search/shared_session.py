"""One session of onnxruntime for all who run the same graph: its weights are 100 MB that the collector cannot see."""

from __future__ import annotations

import threading
from pathlib import Path
from weakref import WeakValueDictionary

from memory_node.domain.onnx_runtime import onnxruntime

# A session never changes, and runs may overlap. A memory that is opened again takes over the session of the last one;
# otherwise both sets of weights would be in memory until the garbage collector runs.
_SESSIONS: WeakValueDictionary[tuple[str, int, int, int], onnxruntime.InferenceSession] = WeakValueDictionary()
_OPENING = threading.Lock()


def shared_session(graph: Path, threads: int = 1) -> onnxruntime.InferenceSession:
    """Return the session of a graph on the processor; a new one when nobody holds one, or the file has changed.

    Raises:
        OSError: there is no such file.
        Exception: onnxruntime's own, which share no base class; the file is no graph that it can run.
    """
    made = graph.stat()
    key = (str(graph.resolve()), made.st_size, made.st_mtime_ns, threads)
    with _OPENING:
        session = _SESSIONS.get(key)
        if session is None:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
            _SESSIONS[key] = session
        return session
