"""Coded images (JPEG, PNG) as arrays; what is cut short or has another depth of colour is refused, not guessed."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError

_JPEG, _JPEG_END = b"\xff\xd8", b"\xff\xd9"
PNG, _PNG_END = b"\x89PNG", b"IEND"
# Writers may pad a file, so the end mark of a picture is looked for in this many last bytes.
_TAIL_BYTES = 1024


def decode_coded_color(data: bytes, what: str) -> NDArray[np.uint8]:
    """Return a coded 8-bit image as RGB (h, w, 3); what: names it in errors.

    Raises:
        InputSkippedError: cut short ("image_truncated"), no image ("image_undecodable"), 16 bits a colour
            ("color_encoding").
    """
    image = _decoded(data, what)
    if image.dtype != np.uint8:
        raise InputSkippedError("color_encoding", f"{what}: expected 8 bits a colour, got {image.dtype}")
    if image.ndim == 2:
        return np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2RGB), dtype=np.uint8)
    code = cv2.COLOR_BGRA2RGB if image.shape[2] == 4 else cv2.COLOR_BGR2RGB
    return np.asarray(cv2.cvtColor(image, code), dtype=np.uint8)


def decode_coded_depth(data: bytes, what: str) -> NDArray[np.uint16]:
    """Return a coded depth image (h, w) in the units that it was written in, 16 bits a pixel.

    Raises:
        InputSkippedError: cut short ("image_truncated"), no image ("image_undecodable"), no 16-bit image of one channel
            ("depth_encoding").
    """
    image = _decoded(data, what)
    if image.dtype != np.uint16 or image.ndim != 2:
        raise InputSkippedError(
            "depth_encoding", f"{what}: expected one channel of uint16, got shape {image.shape} of {image.dtype}"
        )
    return image


def _decoded(data: bytes, what: str) -> NDArray[Any]:
    tail = data[-_TAIL_BYTES:]
    # Decoders fill what is missing of a picture that was cut short with grey, and say nothing.
    if (data.startswith(_JPEG) and _JPEG_END not in tail) or (data.startswith(PNG) and _PNG_END not in tail):
        raise InputSkippedError("image_truncated", f"{what}: cut short after {len(data)} bytes")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED) if data else None
    except cv2.error:  # sizes that no camera has
        image = None
    if image is None:
        raise InputSkippedError("image_undecodable", f"{what}: {len(data)} bytes that are no JPEG or PNG image")
    return np.asarray(image)
