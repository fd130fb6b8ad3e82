"""The default sentence embedder: all-MiniLM-L6-v2 on onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory_node.domain.errors import ResourceMissingError
from memory_node.search.model_files import BUILD_COMMAND, PRECISIONS, build_minilm, minilm_folder
from memory_node.search.shared_session import shared_session

# Tokens of one run, with padding: onnxruntime never frees the memory of its largest run.
_RUN_TOKENS = 2048
MAX_TOKENS = 256  # the published sentence_bert_config.json
DIMENSION = 384


class MiniLmEmbedder:
    """Sentence embeddings (n, 384) float32 of unit length (Reimers and Gurevych 2019; Wang et al. 2020).

    precision: "fp32" is exact, "int8" is a quarter of the size (`bench recall` measures both). threads: of
    onnxruntime. batch_size: texts of one run; eight of a sentence each need a fifth less time than 32, whose
    intermediate results do not fit a core's cache. The graph is made from the installed weights when it is missing.

    Raises:
        ResourceMissingError: there is no graph and it cannot be made here; the message says what to do.
    """

    def __init__(
        self, precision: str = "fp32", folder: Path | None = None, threads: int = 1, batch_size: int = 8
    ) -> None:
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
        self._batch_size = batch_size
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
        for start in range(0, len(order), self._batch_size):
            chosen = order[start : start + self._batch_size]
            result[chosen] = self._embed_batch([texts[index] for index in chosen])
        return result

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        encodings = self._tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        rows = max(1, _RUN_TOKENS // ids.shape[1])
        parts = [slice(at, at + rows) for at in range(0, len(ids), rows)]
        return np.concatenate([self._run(ids[part], mask[part]) for part in parts])

    def _run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        feed = {"input_ids": ids, "attention_mask": mask}
        return np.asarray(self._session.run(["embedding"], feed)[0], dtype=np.float32)


def _build(folder: Path) -> None:
    try:
        build_minilm(folder)
    except ResourceMissingError as error:
        raise ResourceMissingError(
            f"no sentence embedder in {folder} and it cannot be made here ({error}); run `{BUILD_COMMAND}` where the "
            f"extra [models] is installed, and copy the folder or set ROBOT_MEMORY_MODELS"
        ) from error
