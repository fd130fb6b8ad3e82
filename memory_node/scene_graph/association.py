"""Which observation is which remembered object: gated pairs, costs from geometry, class and looks, solved globally."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from memory_node.scene_graph.box_overlap import BoxPairs, overlap_aligned
from memory_node.scene_graph.class_sizes import ClassSizes
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable, Rows
from memory_node.scene_graph.observed import Observed

_REFUSED = 1e6
_FURNITURE_M = 0.5
# Sides that differ by more than this many standard deviations are not of one thing.
_UNLIKE_SIGMA = 2.0
_WIDENED_SHARE = 0.25
_WIDENED_M = (0.08, 0.4)


@dataclass(frozen=True, eq=False)
class Association:
    """matched: (k, 2) observation and row; fresh: observations of nothing known; parts: (j, 2) observation and the
    row that it is a part or a second detection of."""

    matched: NDArray[np.intp]
    fresh: NDArray[np.intp]
    parts: NDArray[np.intp]


def associate(
    observed: Observed, table: ObjectTable, rows: Rows, config: SceneGraphConfig, sizes: ClassSizes
) -> Association:
    """Assign observations to the objects of `rows`, at most one each, at the least total cost.

    sizes: how large things of a class are, which distinguishes a new thing from a known one with a wrong label.
    """
    count = len(observed)
    everything = np.arange(count)
    none = np.zeros((0, 2), np.intp)
    if not count or not rows.size:
        return Association(none, everything, none)
    reach = 0.5 * (np.linalg.norm(observed.size, axis=1)[:, None] + np.linalg.norm(table.size[rows], axis=1)[None])
    apart = np.linalg.norm(observed.center[:, None] - table.center[rows][None], axis=2)
    which, column = np.nonzero(apart < reach + 3.0 * config.gate_sigma_m)
    row = rows[column]
    pairs = observed.overlap_with(table, which, row, config.min_thickness_m)
    pairs = replace(pairs, containment=_containment(observed, table, which, row, pairs, config))
    one_shape = _of_one_shape(observed, table, which, row, pairs, config)
    one_shape &= _of_class_size(observed, table, which, row, pairs, sizes)
    cost = _costs(observed, table, which, row, pairs, one_shape, config)
    matched = _assign(which, row, cost, config.max_cost)
    return _with_parts(observed, table, which, row, pairs, matched, one_shape, config.fragment_overlap)


def _containment(
    observed: Observed, table: ObjectTable, which: Rows, row: Rows, pairs: BoxPairs, config: SceneGraphConfig
) -> NDArray[np.float64]:
    """Return the share of each observation, or of the object where that is smaller, that lies in the other (p,).

    An object with unseen faces may extend beyond its box there; it is widened for an observation that shows a part.
    """
    truncated = observed.truncated[which]
    unseen = np.sqrt(table.face_variance[row[truncated]].astype(np.float64)) > 0.5 * config.unseen_face_sigma_m
    unsure = np.where(unseen, np.clip(_WIDENED_SHARE * pairs.size_b[truncated], *_WIDENED_M)[:, None], 0.0)
    shift = 0.5 * (unsure[:, 1] - unsure[:, 0])
    widened = pairs.size_b[truncated] + unsure.sum(axis=1)
    parts = overlap_aligned(pairs.offset[truncated] - shift, pairs.size_a[truncated], widened, config.min_thickness_m)
    containment = pairs.containment.copy()
    containment[truncated] = parts
    return containment


def class_agreement(scores: dict[str, float], record: ObjectRecord) -> float:
    """Return the probability in [0, 1] that an observation's class and an object's are the same; 0.5 when either is
    unnamed."""
    if not scores or record.best_class == "object":
        return 0.5
    total = sum(scores.values())
    weight = sum(record.classes.values())
    if total <= 0.0 or weight <= 0.0:
        return 0.5
    return sum(score * record.classes.get(name, 0.0) for name, score in scores.items()) / (total * weight)


def _costs(
    observed: Observed,
    table: ObjectTable,
    which: Rows,
    row: Rows,
    pairs: BoxPairs,
    one_shape: NDArray[np.bool_],
    config: SceneGraphConfig,
) -> NDArray[np.float64]:
    spread = 0.25 * table.face_variance[row].sum(axis=1) + observed.variance[which] + config.gate_sigma_m**2
    distance = np.sqrt((pairs.offset**2 / spread).sum(axis=1))
    logs = np.abs(np.log((pairs.size_a + config.min_thickness_m) / (pairs.size_b + config.min_thickness_m)))
    misfit = np.minimum(logs.mean(axis=1), 1.5)
    truncated = observed.truncated[which]
    agreement = np.ones(len(which))
    looks = np.zeros(len(which))
    # Boxes without a common part are refused below, whatever they show.
    for i in np.flatnonzero(pairs.containment > 0.0).tolist():
        observation, record = observed.observations[which[i]], table.record(int(row[i]))
        agreement[i] = class_agreement(observation.class_scores, record)
        new, old = observation.embedding, record.embedding
        if new is not None and old is not None and len(new) == len(old):
            looks[i] = 1.0 - float(new @ old.astype(np.float32))
    # A truncated observation shows a part of the object: it should lie inside, its centre and size say little.
    geometry = np.where(truncated, 1.0 - pairs.containment, 1.0 - pairs.iou)
    cost = config.weight_overlap * geometry
    cost += config.weight_distance * np.minimum(distance / 3.0, 1.5) * np.where(truncated, 0.3, 1.0)
    cost += config.weight_size * misfit * np.where(truncated, 0.3, 1.0)
    cost += config.weight_class * (1.0 - agreement) + config.weight_appearance * looks
    near = (pairs.iou >= config.min_overlap) | ((distance <= 2.0) & (pairs.containment > 0.1))
    near |= truncated & (pairs.containment >= np.where(agreement >= 0.5, 0.3, config.fragment_overlap))
    near |= (pairs.containment >= 0.7) & (agreement >= 0.5)
    # Another class at the same place counts as a wrong label only if the boxes agree well.
    foreign = (agreement < 0.1) & (pairs.iou < 1.2 * config.min_overlap) & ~(distance <= 1.0)
    # Mostly parts of furniture are seen. A part inside the box belongs to the furniture, whatever its label.
    large = pairs.size_b.max(axis=1) > _FURNITURE_M
    foreign &= ~(truncated & large & (pairs.containment > 0.7) & alike(pairs))
    # A thing of another class and of another shape took the place of what was there.
    foreign |= (agreement < 0.5) & ~one_shape
    return np.where(near & ~foreign, cost, _REFUSED)


def _assign(which: Rows, row: Rows, cost: NDArray[np.float64], max_cost: float) -> NDArray[np.intp]:
    allowed = cost <= max_cost
    which, row, cost = which[allowed], row[allowed], cost[allowed]
    if not which.size:
        return np.zeros((0, 2), np.intp)
    observations, line = np.unique(which, return_inverse=True)
    objects, column = np.unique(row, return_inverse=True)
    matrix = np.full((len(observations), len(objects)), _REFUSED)
    matrix[line, column] = cost
    lines, columns = linear_sum_assignment(matrix)
    kept = matrix[lines, columns] < _REFUSED
    return np.stack([observations[lines[kept]], objects[columns[kept]]], axis=1)


def _with_parts(
    observed: Observed,
    table: ObjectTable,
    which: Rows,
    row: Rows,
    pairs: BoxPairs,
    matched: Rows,
    one_shape: NDArray[np.bool_],
    fragment_overlap: float,
) -> Association:
    fresh = np.ones(len(observed), bool)
    fresh[matched[:, 0]] = False
    inside = fresh[which] & (pairs.containment > fragment_overlap) & alike(pairs)
    parts: dict[int, int] = {}
    seen = set(matched[:, 1].tolist())
    for i in np.flatnonzero(inside)[np.argsort(-pairs.containment[inside], kind="stable")].tolist():
        scores = observed.observations[which[i]].class_scores
        agreement = class_agreement(scores, table.record(int(row[i])))
        # A whole thing of another class or shape is no part of the object: it took the object's place. An observation
        # with another name than a thing that is seen itself is no part of that thing either, because detectors rarely
        # report one thing under two names.
        seen_itself = int(row[i]) in seen and pairs.iou[i] < 0.5
        likely = 0.0 if observed.truncated[which[i]] and not seen_itself else 0.1
        if agreement >= 0.5 or (agreement >= likely and one_shape[i]):
            parts.setdefault(int(which[i]), int(row[i]))
    fresh[list(parts)] = False
    listed = np.array(sorted(parts.items()), dtype=np.intp).reshape(-1, 2)
    return Association(matched, np.flatnonzero(fresh), listed)


def _of_one_shape(
    observed: Observed, table: ObjectTable, which: Rows, row: Rows, pairs: BoxPairs, config: SceneGraphConfig
) -> NDArray[np.bool_]:
    """Return which pairs may be of one size (p,), as far as the object's faces are known."""
    variance = table.face_variance[row].sum(axis=1) + 2.0 * observed.variance[which] + config.gate_sigma_m**2
    sides = [np.maximum(size, config.min_thickness_m) for size in (pairs.size_a, pairs.size_b)]
    excess, ratio = pairs.size_a - pairs.size_b, np.log(sides[0] / sides[1])
    truncated = observed.truncated[which][:, None]
    # A part of a thing may be smaller than it, never larger.
    excess, ratio = (np.where(truncated, value, np.abs(value)) for value in (excess, ratio))
    unlike = (excess > _UNLIKE_SIGMA * np.sqrt(variance)) & (ratio > np.log(config.same_instance_size_ratio))
    return ~unlike.any(axis=1)


def _of_class_size(
    observed: Observed, table: ObjectTable, which: Rows, row: Rows, pairs: BoxPairs, sizes: ClassSizes
) -> NDArray[np.bool_]:
    """Return which observations (p,) are of a size that the object's class, or a part of one, may have."""
    fits = np.ones(len(which), bool)
    for i in np.flatnonzero(pairs.containment > 0.1).tolist():
        name = table.record(int(row[i])).best_class
        if name != observed.observations[which[i]].best_class:
            fits[i] = sizes.may_be(name, observed.size[which[i]], whole=not observed.truncated[which[i]])
    return fits


def alike(pairs: BoxPairs) -> NDArray[np.bool_]:
    """Return which pairs are of similar volume: a book inside a shelf's box is a thing of its own, not a part of the
    shelf."""
    small, large = pairs.size_a + 0.02, pairs.size_b + 0.02
    ratio = small.prod(axis=1) / large.prod(axis=1)
    return (ratio > 0.08) & (ratio < 12.0)
