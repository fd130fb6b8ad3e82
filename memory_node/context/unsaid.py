"""What words leave out of a thing, as numbers: where it is from the camera, its size, its colour and its look."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.domain.scene import SceneObject

_LOOK = 32
# Offset (m), size (m), mean colour (blue, green, red; 0 to 1), and the crop's vector in fewer dimensions.
UNSAID = 3 + 3 + 3 + _LOOK


def unsaid(found: SceneObject, camera: FloatArray) -> NDArray[np.float32]:
    """Return (UNSAID,) of a thing. camera: (3,), in the map frame. What is not known of it is 0.

    A crop's vector is projected at random, by the same matrix for all of its width (Johnson and Lindenstrauss).
    """
    colour, look = np.zeros(3), np.zeros(_LOOK)
    picture = cv2.imdecode(np.frombuffer(found.crop_jpeg, np.uint8), cv2.IMREAD_COLOR) if found.crop_jpeg else None
    if picture is not None:
        colour = picture.mean((0, 1)) / 255.0
    if found.embedding is not None:
        vector = found.embedding.astype(np.float64)
        look = np.random.default_rng(0).standard_normal((_LOOK, len(vector))) @ vector / np.sqrt(_LOOK)
    return np.concatenate((found.box.center - camera, found.box.size, colour, look)).astype(np.float32)
