"""What words leave out of a thing: two mugs of one name have numbers of their own."""

import cv2
import numpy as np

from memory_node.context.soft_memory import UNSAID, unsaid
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject

CAMERA = np.array([1.0, 0.0, 1.5])


def mug(colour: tuple[int, int, int], side_m: float = 0.1, embedding: np.ndarray | None = None) -> SceneObject:
    crop = cv2.imencode(".png", np.full((8, 8, 3), colour, np.uint8))[1].tobytes()
    box = OrientedBox(np.array([2.0, 1.0, 1.0]), np.full(3, side_m))
    return SceneObject("m", {"Mug": 1.0}, box, np.eye(3), 1.0, 1, 1, embedding=embedding, crop_jpeg=crop)


def test_place_size_and_colour_are_told() -> None:
    told = unsaid(mug((0, 0, 255)), CAMERA)
    assert told.shape == (UNSAID,)
    np.testing.assert_allclose(told[:9], [1.0, 1.0, -0.5, 0.1, 0.1, 0.1, 0.0, 0.0, 1.0], atol=1e-6)
    assert not told[9:].any(), "no crop was embedded"


def test_looks_keep_how_near_they_are() -> None:
    vectors = np.random.default_rng(1).standard_normal((2, 512)).astype(np.float32)
    first, second = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    like = 0.95 * first + 0.05 * second
    one, near, far = (unsaid(mug((9, 9, 9), embedding=vector), CAMERA)[9:] for vector in (first, like, second))
    assert np.linalg.norm(one - near) < 0.2 * np.linalg.norm(one - far)
