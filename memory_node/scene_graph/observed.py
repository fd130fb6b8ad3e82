"""The observations of one frame, column by column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.scene_graph.box_overlap import BoxPairs, overlap
from memory_node.scene_graph.class_sizes import ClassSizes
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectTable, Rows


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
        """Compare the observations `which` with the objects of `rows`, pair by pair; see overlap."""
        return overlap(
            self.center[which],
            self.size[which],
            self.yaw[which],
            table.center[rows],
            table.size[rows],
            table.yaw[rows],
            min_side_m,
        )

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
