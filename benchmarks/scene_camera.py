"""The camera of `bench scene`: depth and instances of boxes in a room by a z-buffer, and what the sensors make of
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.scene_site import ALIKE, ROOM_M, THINGS, Thing, room_corner
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.detection import Detection
from memory_node.sim.noise import DetectionNoise

CAMERA = Intrinsics(525.0, 525.0, 319.5, 239.5, 640, 480)
_NEAR_M = 0.1
_FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


@dataclass(frozen=True, eq=False)
class View:
    """What a perfect camera sees: depth (h, w) in metres and the number of the thing at each pixel (-1 none)."""

    depth_m: NDArray[np.float32]
    number: NDArray[np.int32]
    map_T_camera: Pose


def render(things: Sequence[Thing], room: int, map_T_camera: Pose) -> View:
    """Render a room's things, walls, floor and ceiling. Inverse depth is linear in the pixel on every plane."""
    matrix = np.linalg.inv(map_T_camera.matrix)
    nearness = _walls(room, map_T_camera)
    number = np.full(nearness.shape, -1, np.int32)
    for thing in things:
        corners = thing.box.corners() @ matrix[:3, :3].T + matrix[:3, 3]
        if corners[:, 2].max() > _NEAR_M:
            for face in _FACES:
                _draw_face(corners[list(face)], thing.number, nearness, number)
    with np.errstate(divide="ignore"):
        depth = np.where(nearness > 0.0, 1.0 / nearness, 0.0)
    return View(depth.astype(np.float32), number, map_T_camera)


def _walls(room: int, map_T_camera: Pose) -> NDArray[np.float64]:
    """Return the inverse depth (h, w) of the inside of a room: the nearest of its six planes along each ray."""
    x, y = room_corner(room)
    turn = map_T_camera.matrix[:3, :3]
    eye = map_T_camera.position
    nearness = np.zeros((CAMERA.height, CAMERA.width))
    u = ((np.arange(CAMERA.width) - CAMERA.cx) / CAMERA.fx)[None]
    v = ((np.arange(CAMERA.height) - CAMERA.cy) / CAMERA.fy)[:, None]
    for axis, low, high in ((0, x, x + ROOM_M[0]), (1, y, y + ROOM_M[1]), (2, 0.0, ROOM_M[2])):
        ray = turn[axis, 0] * u + turn[axis, 1] * v + turn[axis, 2]
        np.maximum(nearness, ray / (low - eye[axis]), out=nearness)
        np.maximum(nearness, ray / (high - eye[axis]), out=nearness)
    return nearness


def _draw_face(
    corners: NDArray[np.float64], thing: int, nearness: NDArray[np.float64], number: NDArray[np.int32]
) -> None:
    corners = _clipped(corners)
    if len(corners) < 3:
        return
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    offset = float(normal @ corners[0])
    if abs(offset) < 1e-9:
        return
    pixel = corners[:, :2] / corners[:, 2:] * [CAMERA.fx, CAMERA.fy] + [CAMERA.cx, CAMERA.cy]
    low = np.maximum(np.floor(pixel.min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(pixel.max(axis=0)).astype(int) + 1, [CAMERA.width, CAMERA.height])
    if (high <= low).any():
        return
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), np.uint8)
    cv2.fillConvexPoly(mask, np.rint((pixel - low) * 16).astype(np.int32), 1, shift=4)
    a, b, c = normal[0] / CAMERA.fx, normal[1] / CAMERA.fy, normal[2]
    columns = np.arange(low[0], high[0]) - CAMERA.cx
    rows = np.arange(low[1], high[1]) - CAMERA.cy
    here = (a * columns[None] + b * rows[:, None] + c) / offset
    window = np.s_[low[1] : high[1], low[0] : high[0]]
    nearer = (mask > 0) & (here > nearness[window])
    nearness[window][nearer] = here[nearer]
    number[window][nearer] = thing


def _clipped(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the polygon (n, 3) cut at the near plane (Sutherland and Hodgman 1974)."""
    if (corners[:, 2] >= _NEAR_M).all():
        return corners
    kept = []
    for one, other in zip(corners, np.roll(corners, -1, axis=0)):
        if one[2] >= _NEAR_M:
            kept.append(one)
        if (one[2] >= _NEAR_M) != (other[2] >= _NEAR_M):
            kept.append(one + (other - one) * (_NEAR_M - one[2]) / (other[2] - one[2]))
    return np.array(kept).reshape(-1, 3)


def detect(
    view: View, things: dict[int, Thing], noise: DetectionNoise, generator: np.random.Generator
) -> tuple[list[Detection], NDArray[np.int32]]:
    """Return detections and the instance image (h, w) that they number into: misses, ghosts, wrong labels, ragged
    masks."""
    shown = _ragged(view.number, noise.mask_edge_px, generator)
    sizes = np.bincount(shown[shown >= 0], minlength=int(shown.max()) + 1)
    instance = np.zeros(len(sizes) + 1, np.int32)
    detections: list[Detection] = []
    for number in np.flatnonzero(sizes >= noise.min_pixels).tolist():
        distance = float(np.linalg.norm(things[number].box.center - view.map_T_camera.position))
        if distance > noise.max_range_m or generator.random() < noise.miss_probability:
            continue
        name = things[number].class_name
        if generator.random() < noise.class_confusion_probability:
            name = ALIKE[name]
        score = float(np.clip(generator.normal(noise.score_mean, noise.score_sigma), 0.05, 1.0))
        detections.append(Detection({name: score}, instance=len(detections) + 1))
        instance[number] = len(detections)
    labels = instance[shown]  # -1, no thing, is the last entry: 0
    for _ in range(int(generator.poisson(noise.false_positive_rate))):
        width, height = generator.integers(15, 90, 2)
        left, top = generator.integers(0, CAMERA.width - width), generator.integers(0, CAMERA.height - height)
        name = str(generator.choice(list(THINGS)))
        detections.append(Detection({name: float(generator.uniform(0.4, 0.8))}, instance=len(detections) + 1))
        labels[top : top + height, left : left + width] = len(detections)
    return detections, labels


def _ragged(number: NDArray[np.int32], most_px: int, generator: np.random.Generator) -> NDArray[np.int32]:
    """Return the instances (h, w) with outlines shifted by up to `most_px`, differently from patch to patch."""
    if most_px == 0:
        return number
    height, width = number.shape
    rows, columns = np.indices(number.shape, dtype=np.int32)
    shift = generator.integers(-most_px, most_px + 1, (2, height // 16 + 1, width // 16 + 1))
    shift = shift.repeat(16, axis=1).repeat(16, axis=2)[:, :height, :width]
    return number[np.clip(rows + shift[0], 0, height - 1), np.clip(columns + shift[1], 0, width - 1)]
