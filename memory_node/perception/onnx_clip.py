"""Open-vocabulary embeddings: CLIP's image and text towers from two ONNX files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.perception.onnx_session import image_size, open_session

# Mean and deviation of the colours that CLIP was trained on (Radford et al. 2021).
_MEAN = np.array([0.48145466, 0.4578275, 0.40821073], np.float32)
_DEVIATION = np.array([0.26862954, 0.26130258, 0.27577711], np.float32)


class OnnxClip:
    """Embeds pictures and words into one space: unit vectors whose dot product tells how well they fit (a
    TextEmbedder).

    image_model: pixels (n, 3, h, w) -> (n, d). text_model: token ids (n, length) -> (n, d), with an attention mask if
    it asks for one. tokenizer: the model's tokenizer.json.
    """

    def __init__(self, image_model: Path, text_model: Path, tokenizer: Path, context_length: int = 77) -> None:
        if not tokenizer.is_file():
            raise ResourceMissingError(f"{tokenizer}: no such tokenizer; give the model's tokenizer.json")
        self._image, self._text = open_session(image_model), open_session(text_model)
        self._height, self._width = image_size(self._image, 224)
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(context_length)
        self._tokenizer.enable_padding(length=context_length)
        self._dimension = len(self.embed(["a"])[0])
        pictured = len(self.embed_image(np.zeros((8, 8, 3), np.uint8)))
        if pictured != self._dimension:
            raise InvalidValueError(
                f"image tower gives {pictured} numbers, text tower {self._dimension}: not one model's"
            )

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension) unit vectors of texts."""
        coded = self._tokenizer.encode_batch(list(texts))
        tokens = np.array([code.ids for code in coded], np.int64)
        masks = np.array([code.attention_mask for code in coded], np.int64)
        inputs = self._text.get_inputs()
        whole = {entry.name: masks if "mask" in entry.name else tokens for entry in inputs}
        feed = {
            entry.name: whole[entry.name].astype(np.int32 if "int32" in entry.type else np.int64) for entry in inputs
        }
        return _unit(self._text.run(None, feed)[0])

    def embed_image(self, color: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the unit vector (dimension,) of an RGB picture (h, w, 3): its middle square."""
        side = min(color.shape[:2])
        top, left = (color.shape[0] - side) // 2, (color.shape[1] - side) // 2
        square = np.ascontiguousarray(color[top : top + side, left : left + side])
        scaled = cv2.resize(square, (self._width, self._height), interpolation=cv2.INTER_AREA)
        pixels = (scaled.astype(np.float32) / 255.0 - _MEAN) / _DEVIATION
        feed = {
            self._image.get_inputs()[0].name: np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], dtype=np.float32)
        }
        return np.asarray(_unit(self._image.run(None, feed)[0])[0])


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2:
        raise InvalidValueError(f"expected embeddings (n, d), got {rows.shape}; export the tower with its projection")
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), dtype=np.float32)
