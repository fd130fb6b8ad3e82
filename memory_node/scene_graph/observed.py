"""The observations of one frame, column by column, and how their boxes overlap with those of objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectTable, Rows, volumes
from memory_node.scene_graph.state import ClassSizes

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoxPairs:
    """p pairs (a, b) in the axes of b: offset of a's centre (p, 3), both sizes (p, 3) with a turned to b's nearest
    side.

    iou: volume of the intersection over the union; containment: over the smaller of both. turn_rad: what is left of
    a's yaw after turning by quarters, in [-pi/4, pi/4]. The intersection ignores that remainder: it is exact for
    parallel boxes.
    """

    offset: FloatArray
    size_a: FloatArray
    size_b: FloatArray
    turn_rad: FloatArray
    iou: FloatArray
    containment: FloatArray


class Boxes(NamedTuple):
    """n boxes: centers and sizes (n, 3) in m, yaws (n,)."""

    center: FloatArray
    size: FloatArray
    yaw: NDArray[np.floating]

    @classmethod
    def of(cls, columns: Observed | ObjectTable | Boxes, which: Sequence[int] | Rows) -> Boxes:
        """Return some of the boxes that stand in columns, by their numbers there."""
        at = np.asarray(which, dtype=np.intp)
        return cls(columns.center[at], columns.size[at], columns.yaw[at])

    def overlap(self, other: Boxes, min_side_m: float) -> BoxPairs:
        """Compare these boxes with as many others, pair by pair; sides below `min_side_m` are widened."""
        (center_a, size_a, yaw_a), (center_b, size_b, yaw_b) = self, other
        cos, sin = np.cos(yaw_b), np.sin(yaw_b)
        shift = center_a - center_b
        offset = np.empty(shift.shape)
        offset[:, 0] = cos * shift[:, 0] + sin * shift[:, 1]
        offset[:, 1] = cos * shift[:, 1] - sin * shift[:, 0]
        offset[:, 2] = shift[:, 2]
        turn = yaw_a - yaw_b
        quarters = np.rint(turn / (0.5 * np.pi))
        swapped = (quarters.astype(np.int64) % 2 == 1)[:, None]
        turned = np.where(swapped, size_a[:, [1, 0, 2]], size_a)
        wide_a, wide_b = np.maximum(turned, min_side_m), np.maximum(size_b, min_side_m)
        shared = _shared_volume(offset, wide_a, wide_b)
        volume_a, volume_b = volumes(wide_a), volumes(wide_b)
        return BoxPairs(
            offset,
            turned,
            size_b,
            turn - quarters * 0.5 * np.pi,
            shared / (volume_a + volume_b - shared),
            shared / np.minimum(volume_a, volume_b),
        )


def overlap_aligned(offset: FloatArray, size_a: FloatArray, size_b: FloatArray, min_side_m: float) -> FloatArray:
    """Return the volume that parallel boxes share over that of the smaller one: offset of a from b and both sizes,
    all (p, 3)."""
    wide_a, wide_b = np.maximum(size_a, min_side_m), np.maximum(size_b, min_side_m)
    smaller = np.minimum(volumes(wide_a), volumes(wide_b))
    return np.asarray(_shared_volume(offset, wide_a, wide_b) / smaller)


def share_inside(offset: FloatArray, size_a: FloatArray, size_b: FloatArray, min_side_m: float) -> FloatArray:
    """Return the share of a's volume that lies in b, of parallel boxes given as in `overlap_aligned`."""
    wide_a, wide_b = np.maximum(size_a, min_side_m), np.maximum(size_b, min_side_m)
    return np.asarray(_shared_volume(offset, wide_a, wide_b) / volumes(wide_a))


def _shared_volume(offset: FloatArray, size_a: FloatArray, size_b: FloatArray) -> FloatArray:
    low = np.maximum(offset - 0.5 * size_a, -0.5 * size_b)
    high = np.minimum(offset + 0.5 * size_a, 0.5 * size_b)
    return np.asarray(volumes(np.maximum(high - low, 0.0)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Observed:
    """n observations: centers and sizes (n, 3), yaws (n,), variances of the centre (n, 3) in map, camera (3,) in
    map."""

    observations: tuple[ObjectObservation, ...]
    center: NDArray[np.float64]
    size: NDArray[np.float64]
    yaw: NDArray[np.float64]
    variance: NDArray[np.float64]
    truncated: NDArray[np.bool_]
    camera: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.observations)

    def overlap_with(self, table: ObjectTable, which: Rows, rows: Rows, min_side_m: float) -> BoxPairs:
        """Compare the observations `which` with the objects of `rows`, pair by pair."""
        return Boxes.of(self, which).overlap(Boxes.of(table, rows), min_side_m)

    @classmethod
    def of(cls, frame: Frame, config: SceneGraphConfig, sizes: ClassSizes) -> Observed:
        """Lay out a frame; sides thinner than min_thickness_m are widened, since overlap needs a volume.

        An observation far smaller than its class's usual size counts as truncated: a nearer thing may hide a part
        without being seen itself.
        """
        seen = frame.observations
        boxes = [observation.box for observation in seen]
        size = np.array([box.size for box in boxes]).reshape(-1, 3)
        return cls(
            seen,
            np.array([box.center for box in boxes]).reshape(-1, 3),
            np.maximum(size, 0.2 * config.min_thickness_m),
            np.array([box.yaw_rad for box in boxes]),
            np.array([observation.covariance.diagonal() for observation in seen]).reshape(-1, 3),
            np.array([o.truncated or sizes.is_part(o.best_class, o.box.size) for o in seen], dtype=bool),
            np.asarray(frame.map_T_camera.position),
        )
