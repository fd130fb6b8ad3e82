"""CLIP on onnxruntime, by path: texts and image crops in one space."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.search.minilm import shared_session

_FILES = ("text.onnx", "image.onnx", "tokenizer.json")
_CONTEXT_TOKENS = 77
# Of CLIP's training images (Radford et al. 2021), red, green, blue.
_MEAN = np.array([0.48145466, 0.4578275, 0.40821073], dtype=np.float32)
_STD = np.array([0.26862954, 0.26130258, 0.27577711], dtype=np.float32)


class ClipEmbedder:
    """A TextEmbedder that also embeds images; unit vectors of both kinds may be compared.

    folder: holds text.onnx (input_ids and perhaps attention_mask -> one vector a text), image.onnx (pixel_values
    (n, 3, side, side) -> one vector an image) and tokenizer.json, as exporters of CLIP write them.

    Raises:
        ResourceMissingError: a file is missing, or is no model.
        InvalidValueError: the towers are not one model's.
    """

    def __init__(self, folder: Path) -> None:
        missing = [name for name in _FILES if not (folder / name).is_file()]
        if missing:
            raise ResourceMissingError(
                f"CLIP in {folder}: no {', '.join(missing)}; put the exported model's files there"
            )
        self._text, self._image = (_open(folder / name) for name in _FILES[:2])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_CONTEXT_TOKENS)
        self._tokenizer.enable_padding(length=_CONTEXT_TOKENS)
        side = self._image.get_inputs()[0].shape[-1]
        self._side = side if isinstance(side, int) else 224
        self._dimension = int(self.embed(["dimension"]).shape[1])
        pixels = np.zeros((1, 3, self._side, self._side), dtype=np.float32)
        pictured = _unit_rows(self._image, {self._image.get_inputs()[0].name: pixels}).shape[1]
        if pictured != self._dimension:
            raise InvalidValueError(
                f"CLIP in {folder}: image.onnx gives {pictured} numbers, text.onnx {self._dimension}: not one model's"
            )

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension) unit vectors of texts."""
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        encodings = self._tokenizer.encode_batch(list(texts))
        columns = {
            "input_ids": [encoding.ids for encoding in encodings],
            "attention_mask": [encoding.attention_mask for encoding in encodings],
        }
        feed = {
            entry.name: np.array(columns[entry.name], dtype=np.int32 if "int32" in entry.type else np.int64)
            for entry in self._text.get_inputs()
        }
        return _unit_rows(self._text, feed)

    def embed_crops(self, crops_jpeg: Sequence[bytes]) -> NDArray[np.float32]:
        """Return (n, dimension) unit vectors of coded images.

        Raises:
            InvalidValueError: one of them cannot be decoded.
        """
        if not crops_jpeg:
            return np.empty((0, self._dimension), dtype=np.float32)
        pixels = np.stack([self._pixels(crop) for crop in crops_jpeg])
        return _unit_rows(self._image, {self._image.get_inputs()[0].name: pixels})

    def _pixels(self, crop_jpeg: bytes) -> NDArray[np.float32]:
        """Return (3, side, side): the shorter side scaled to `side`, the middle cut out, colours normalised."""
        data = np.frombuffer(crop_jpeg, dtype=np.uint8)
        image = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        if image is None:
            raise InvalidValueError(f"CLIP: expected a coded image, got {len(crop_jpeg)} bytes that are none")
        height, width = image.shape[:2]
        scale = self._side / min(height, width)
        size = max(self._side, round(width * scale)), max(self._side, round(height * scale))
        image = cv2.resize(image, size, interpolation=cv2.INTER_CUBIC if scale > 1.0 else cv2.INTER_AREA)
        top, left = (image.shape[0] - self._side) // 2, (image.shape[1] - self._side) // 2
        middle = image[top : top + self._side, left : left + self._side, ::-1]
        return np.asarray(((middle / np.float32(255.0) - _MEAN) / _STD).transpose(2, 0, 1), dtype=np.float32)


def _open(path: Path) -> Any:
    try:
        return shared_session(path)
    except Exception as error:  # onnxruntime's errors share no base class
        raise ResourceMissingError(f"{path}: not an ONNX model that onnxruntime can run: {error}") from error


def _unit_rows(session: Any, feed: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    # Exporters also give hidden states (n, tokens, d); the projected embedding is the output with two axes.
    outputs = [np.asarray(output) for output in session.run(None, feed)]
    vectors = next((output for output in outputs if output.ndim == 2), None)
    if vectors is None:
        raise ResourceMissingError(f"CLIP: no output of shape (n, d) among {[output.shape for output in outputs]}")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
