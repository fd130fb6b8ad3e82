"""Moved or new: whether a thing that turned up is one that went missing elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectTable


def best_same_instance(
    table: ObjectTable,
    candidates: Iterable[int],
    best_class: str,
    size: FloatArray,
    embedding: NDArray[np.floating] | None,
    config: SceneGraphConfig,
) -> int | None:
    """Return the candidate row most like a thing of a class, size (3,) and appearance; None when none is like it.

    Sizes are compared side by side in order of length: a thing that was turned over is still itself.
    """
    if best_class == "object" or best_class in config.fixed_classes:
        return None
    sides = np.sort(np.maximum(size, config.min_thickness_m))
    best: tuple[float, int] | None = None
    for row in candidates:
        record = table.record(row)
        if record.best_class != best_class or not record.movable:
            continue
        own = np.sort(np.maximum(table.size[row], config.min_thickness_m))
        misfit = float(np.abs(np.log(own / sides)).max())
        if misfit > np.log(config.same_instance_size_ratio):
            continue
        if embedding is not None and record.embedding is not None and len(embedding) == len(record.embedding):
            cosine = float(np.asarray(embedding, np.float32) @ record.embedding.astype(np.float32))
            if cosine < config.same_instance_cosine:
                continue
            misfit += 1.0 - cosine
        if best is None or misfit < best[0]:
            best = (misfit, row)
    return None if best is None else best[1]
