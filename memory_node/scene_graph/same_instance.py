"""Moved or new: whether a thing that turned up is one that went missing elsewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable, Rows


def best_same_instance(
    table: ObjectTable,
    candidates: Rows,
    best_class: str,
    size: FloatArray,
    embedding: NDArray[np.floating] | None,
    config: SceneGraphConfig,
) -> int | None:
    """Return the row of `candidates` (n,) most like a thing of a class, size (3,) and appearance; None when none is.

    Sizes are compared side by side in order of length: a thing that was turned over is still itself. Years of removed
    things are candidates, so that they are compared as columns.
    """
    if best_class == "object" or best_class in config.fixed_classes:
        return None
    rows = candidates[table.class_code[candidates] == table.code_of_class(best_class)]
    sides = np.sort(np.maximum(size, config.min_thickness_m))
    own = np.sort(np.maximum(table.size[rows], config.min_thickness_m), axis=1)
    misfit = np.abs(np.log(own / sides)).max(axis=1)
    best: tuple[float, int] | None = None
    for i in np.argsort(misfit, kind="stable").tolist():
        if misfit[i] > np.log(config.same_instance_size_ratio) or (best is not None and misfit[i] >= best[0]):
            break
        record = table.record(int(rows[i]))
        unlikeness = _unlikeness(record, embedding)
        fits = record.movable and unlikeness <= 1.0 - config.same_instance_cosine
        if fits and (best is None or misfit[i] + unlikeness < best[0]):
            best = (float(misfit[i]) + unlikeness, int(rows[i]))
    return None if best is None else best[1]


def _unlikeness(record: ObjectRecord, embedding: NDArray[np.floating] | None) -> float:
    """Return one minus the cosine of the appearances, 0 where either is unknown."""
    if embedding is None or record.embedding is None or len(embedding) != len(record.embedding):
        return 0.0
    return 1.0 - float(np.asarray(embedding, np.float32) @ record.embedding.astype(np.float32))
