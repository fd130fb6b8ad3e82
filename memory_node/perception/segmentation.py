"""Objects without a detector: removes large planes, splits the rest into convex pieces, and rejoins pieces of one
thing."""

from __future__ import annotations

from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import SegmentationConfig
from memory_node.perception.convex_parts import LabelArray, convex_parts, part_pixels, rejoin_parts
from memory_node.perception.detection import Detection
from memory_node.perception.instance_points import value_at
from memory_node.perception.surface import Plane, Surface, large_planes, surface_of

_Pixel = TypeVar("_Pixel", bound=np.generic)
# A piece that touches this many of the four image borders is no object.
_MOST_BORDERS = 3


class GeometricSegmenter:
    """A class-agnostic Detector for depth alone: objects that stand out from tables, floors and walls."""

    def __init__(self, config: SegmentationConfig | None = None) -> None:
        self.config = config or SegmentationConfig()

    def detect(
        self, color: NDArray[np.uint8] | None, depth_m: NDArray[np.float32] | None, intrinsics: Intrinsics | None
    ) -> list[Detection]:
        """Return a mask without a class for every object; none without depth and intrinsics. Colour is not used."""
        if depth_m is None or intrinsics is None:
            return []
        labels = self.segment(depth_m, intrinsics)
        return [Detection({}, mask=labels == number) for number in range(1, int(labels.max()) + 1)]

    def segment(self, depth_m: NDArray[np.float32], intrinsics: Intrinsics) -> LabelArray:
        """Return the object number (h, w) of each pixel of a depth image in metres, 0 for none."""
        config = self.config
        small, camera, stride = thinned(depth_m, intrinsics, config.working_focal_px, config.max_depth_m)
        surface = surface_of(small, camera)
        planes = large_planes(surface, config.min_plane_area_m2, camera.fx)
        mask = standing_out(surface, planes, config.plane_margin_m)
        labels = convex_parts(surface, mask, config.concavity)
        labels = rejoin_parts(labels, surface, planes)
        labels = self._plausible(labels, surface, planes)
        return at_full_size(with_floors(labels), depth_m.shape, stride)

    def _plausible(self, labels: LabelArray, surface: Surface, planes: list[Plane]) -> LabelArray:
        """Keep parts of an object's size that rise above a plane; number them from 1, largest first.

        A part that fills the image from border to border is a support or a wall, too near to be recognised as a plane.
        """
        sizes = np.bincount(labels.ravel())
        borders = (labels[0], labels[-1], labels[:, 0], labels[:, -1])
        reached = np.bincount(np.concatenate([np.unique(border) for border in borders]), minlength=len(sizes))
        kept = np.zeros(len(sizes), np.int32)
        pixels = part_pixels(labels)
        normals = np.array([plane.normal for plane in planes], np.float32).reshape(-1, 3)
        offsets = np.array([plane.offset_m for plane in planes], np.float32)
        for number in np.argsort(-sizes, kind="stable").tolist():
            if number == 0 or sizes[number] < self.config.min_object_pixels or reached[number] >= _MOST_BORDERS:
                continue
            points = surface.points.reshape(-1, 3)[pixels[number]]
            spread = value_at(points, 0.98) - value_at(points, 0.02)
            if spread.max() > self.config.max_object_m:
                continue
            heights = points @ normals.T - offsets
            if not planes or np.abs(value_at(heights, 0.9)).min() >= self.config.min_height_m:
                kept[number] = int(kept.max()) + 1
        return kept[labels]


def thinned(
    depth_m: NDArray[np.float32], intrinsics: Intrinsics, focal_px: float, farthest_m: float
) -> tuple[NDArray[np.float32], Intrinsics, int]:
    """Return every few pixels of a depth image, so that the focal length is about `focal_px`, farther ones as 0; their
    camera; and the stride."""
    stride = max(1, round(intrinsics.fx / focal_px))
    small = depth_m[::stride, ::stride]
    with np.errstate(invalid="ignore"):
        small = np.where(small < farthest_m, small, np.float32(0.0))
    i, (height, width) = intrinsics, small.shape
    return small, Intrinsics(i.fx / stride, i.fy / stride, i.cx / stride, i.cy / stride, width, height), stride


def standing_out(surface: Surface, planes: list[Plane], margin_m: float) -> NDArray[np.bool_]:
    """Return which pixels (h, w) are not of a plane, by a margin and the noise, which grows with the distance."""
    mask = surface.valid.copy()
    margin = margin_m + 0.0035 * surface.points[..., 2] ** 2
    for plane in planes:
        with np.errstate(invalid="ignore"):
            near = np.abs(plane.height(surface.points)) < margin
            mask &= ~(near & (surface.normals @ plane.normal.astype(np.float32) > -0.2))
    return np.asarray(cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0)


def with_floors(labels: LabelArray) -> LabelArray:
    """Fill the inside of an object: the floor of a bowl is as low as the table and was removed with it."""
    filled = labels.copy()
    for number, window in enumerate(ndimage.find_objects(labels), start=1):
        if window is None:
            continue
        piece = (labels[window] == number).astype(np.uint8)
        outlines, _ = cv2.findContours(piece, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        inside = cv2.drawContours(np.zeros(piece.shape, np.uint8), outlines, -1, 1, cv2.FILLED)
        filled[window][(inside > 0) & (labels[window] == 0)] = number
    return filled


def at_full_size(labels: NDArray[_Pixel], shape: tuple[int, ...], stride: int) -> NDArray[_Pixel]:
    """Return an image (h, w) that was thinned out by a stride at its full size again."""
    large = labels.repeat(stride, axis=0).repeat(stride, axis=1)
    return np.ascontiguousarray(large[: shape[0], : shape[1]])
