"""Prepares an image for a model, and maps the model's outputs back to the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
# letterbox: sides' ratio kept, image in the middle (or top left), `pad` around it. stretch: both sides to the input's.
# scaled: ratio kept, nothing around it; the size's sides are the most of the shorter and the longer one. none: the
# image's own size.
Fit = Literal["letterbox", "letterbox_top_left", "stretch", "scaled", "none"]

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Of CLIP's training images (Radford et al. 2021).
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True)
class Preprocessing:
    """value = (colour * scale - mean) / std of red, green and blue from 0 to 255. channels: the order in which a model
    takes them. pad: colour around the image."""

    fit: Fit = "letterbox"
    scale: float = 1.0 / 255.0
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    channels: Literal["rgb", "bgr"] = "rgb"
    pad: int = 114


@dataclass(frozen=True, eq=False)
class FittedImage:
    """A model's input: pixels (3, h, w), and where the image (height, width) lies in it: scale and margin of x, y."""

    pixels: FloatArray
    image_size: tuple[int, int]
    scale: tuple[float, float]
    margin: tuple[float, float]

    @property
    def input_size(self) -> tuple[int, int]:
        """Height and width of the model's input."""
        return self.pixels.shape[1], self.pixels.shape[2]

    def to_image(self, corners: FloatArray) -> FloatArray:
        """Return boxes (n, 4) of left, top, right, bottom in pixels of the input as pixels of the image."""
        margin, scale = np.array(self.margin * 2), np.array(self.scale * 2)
        height, width = self.image_size
        moved = (corners - margin) / scale
        return np.asarray(np.clip(moved, 0.0, [width, height, width, height]), dtype=np.float32)

    def mask_in_image(self, logits: FloatArray) -> NDArray[np.bool_]:
        """Return where values (mh, mw) over the whole input are positive, as a mask of the image."""
        down, across = logits.shape[0] / self.input_size[0], logits.shape[1] / self.input_size[1]
        height, width = self.image_size
        # The value of a pixel stands for its middle.
        columns = ((np.arange(width) + 0.5) * self.scale[0] + self.margin[0]) * across - 0.5
        rows = ((np.arange(height) + 0.5) * self.scale[1] + self.margin[1]) * down - 0.5
        columns_2d, rows_2d = np.meshgrid(columns.astype(np.float32), rows.astype(np.float32))
        values = cv2.remap(
            logits.astype(np.float32), columns_2d, rows_2d, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(values > 0.0)


def fitted(color: NDArray[np.uint8], size: tuple[int, int], how: Preprocessing) -> FittedImage:
    """Return an RGB image (h, w, 3) as the input of a model of a size (height, width)."""
    image_size = color.shape[0], color.shape[1]
    place, scale, margin = _placed(image_size, size, how.fit)
    canvas = color
    if place != image_size:
        canvas = np.asarray(cv2.resize(color, place[::-1], interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
    if how.fit.startswith("letterbox"):
        whole = np.full((*size, 3), how.pad, np.uint8)
        left, top = int(margin[0]), int(margin[1])
        whole[top : top + place[0], left : left + place[1]] = canvas
        canvas = whole
    if how.channels == "bgr":
        canvas = canvas[:, :, ::-1]
    pixels = np.ascontiguousarray(canvas.transpose(2, 0, 1), dtype=np.float32)
    # One pass where nothing is subtracted.
    pixels *= np.float32(how.scale)
    order = slice(None, None, -1 if how.channels == "bgr" else 1)
    if any(how.mean):
        pixels -= np.array(how.mean[order], np.float32)[:, None, None]
    if how.std != (1.0, 1.0, 1.0):
        pixels /= np.array(how.std[order], np.float32)[:, None, None]
    return FittedImage(pixels, image_size, scale, margin)


def _placed(
    image: tuple[int, int], size: tuple[int, int], fit: Fit
) -> tuple[tuple[int, int], tuple[float, float], tuple[float, float]]:
    """Return height and width of the image in the input, its scale and margin in x and y."""
    if fit == "none":
        return image, (1.0, 1.0), (0.0, 0.0)
    if fit == "stretch":
        return size, (size[1] / image[1], size[0] / image[0]), (0.0, 0.0)
    if fit == "scaled":
        ratio = min(min(size) / min(image), max(size) / max(image))
        # As transformers rounds: the longer side down.
        height, width = (round(s * ratio) if s == min(image) else int(s * ratio + 1e-6) for s in image)
        return (height, width), (width / image[1], height / image[0]), (0.0, 0.0)
    ratio = min(size[0] / image[0], size[1] / image[1])
    place = max(1, round(image[0] * ratio)), max(1, round(image[1] * ratio))
    scale = place[1] / image[1], place[0] / image[0]
    if fit == "letterbox":
        return place, scale, (float((size[1] - place[1]) // 2), float((size[0] - place[0]) // 2))
    return place, scale, (0.0, 0.0)
