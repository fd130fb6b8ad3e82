"""Which object each observation of a frame is of; one box around several things, several boxes around one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable, Rows, volumes
from memory_node.scene_graph.observed import Boxes, BoxPairs, Observed, overlap_aligned
from memory_node.scene_graph.state import ClassSizes, GraphState

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
    ratio = volumes(small) / volumes(large)
    return (ratio > 0.08) & (ratio < 12.0)


_SAME_CLASS = 0.5
# Several boxes make up one box when, in this order: each lies in it by at least this share; no two overlap by more than
# this share; each is smaller than it by this factor; their volumes differ by at most this factor; together they fill a
# share of it within these bounds.
_INSIDE = 0.7
_BESIDE = 0.2
_SMALLER = 0.8
_LIKE_SIZED = 3.0
_FILLED = (0.4, 1.2)


@dataclass(frozen=True, eq=False)
class Division:
    """found: the association, where a view of several things as one, and of one thing as several, is a part that
    refines no box. split: (k, 2) observation of a separate thing, and the row that contained it so far. joined: rows
    that were seen as one with an older row."""

    found: Association
    split: NDArray[np.intp]
    joined: Rows


def divide(observed: Observed, found: Association, state: GraphState, rows: Rows, weight: float) -> Division:
    """Find objects that are several things, and objects that are seen as one; weight: of the frame's evidence. An
    object is split when the views that show several similar things in its box outnumber the views that show it whole by
    `split_views`.
    """
    joint = _joint_views(observed, found, state, rows)
    apart = _apart_views(observed, found, state)
    matched: dict[int, int] = dict(found.matched.tolist())
    parts = {(obs, row) for obs, row in found.parts.tolist() if obs not in joint}
    split: list[tuple[int, int]] = []
    joined: list[int] = []
    for row, several in apart.items():
        _take(matched, parts, several)
        if _seen_apart(state, row, weight):
            matched[several[0]] = row
            split += [(obs, row) for obs in several[1:]]
        else:
            parts.update((obs, row) for obs in several)
    for obs, several in joint.items():
        _take(matched, parts, [obs])
        parts.update((obs, row) for row in several)
        joined += sorted(several, key=lambda row: (state.table.first_seen[row], row))[1:]
    for row in matched.values():
        _seen_whole(state, row, weight)
    taken = {*matched, *(obs for obs, _ in parts)}
    fresh = np.array([obs for obs in range(len(observed)) if obs not in taken], np.intp)
    regrouped = Association(_pairs(matched.items()), fresh, _pairs(parts))
    return Division(regrouped, _pairs(split), np.array(joined, np.intp))


def _take(matched: dict[int, int], parts: set[tuple[int, int]], several: list[int]) -> None:
    for obs in several:
        matched.pop(obs, None)
    parts -= {pair for pair in parts if pair[0] in several}


def _pairs(pairs: Iterable[tuple[int, int]]) -> NDArray[np.intp]:
    return np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)


def _seen_apart(state: GraphState, row: int, weight: float) -> bool:
    """Count a view of an object as several; return whether that is enough to split it."""
    object_id = state.table.record(row).id
    views = state.seen_apart.pop(object_id, 0.0) + weight
    if views >= state.config.split_views:
        return True
    state.seen_apart[object_id] = views
    return False


def _seen_whole(state: GraphState, row: int, weight: float) -> None:
    """Count a view of an object as one against those that showed it as several."""
    if not state.seen_apart:
        return
    object_id = state.table.record(row).id
    views = state.seen_apart.pop(object_id, 0.0) - weight
    if views > 0.0:
        state.seen_apart[object_id] = views


def _joint_views(observed: Observed, found: Association, state: GraphState, rows: Rows) -> dict[int, list[int]]:
    """Return the observations that show several known things of their class as one, with the rows of these."""
    table = state.table
    if not len(observed):
        return {}
    known = rows[table.times_seen[rows] >= state.config.confirmed_sightings]
    shift = table.center[known][None] - observed.center[:, None]
    cos, sin = np.cos(observed.yaw)[:, None], np.sin(observed.yaw)[:, None]
    local = np.stack([cos * shift[..., 0] + sin * shift[..., 1], cos * shift[..., 1] - sin * shift[..., 0]], axis=-1)
    inside = (np.abs(local) < 0.5 * observed.size[:, None, :2]).all(axis=-1)
    inside &= np.abs(shift[..., 2]) < 0.5 * observed.size[:, None, 2]
    views = {}
    for obs in np.flatnonzero(inside.sum(axis=1) >= 2).tolist():
        elsewhere = found.matched[found.matched[:, 0] != obs, 1]
        several = [row for row in known[inside[obs]].tolist() if row not in elsewhere]
        several = [row for row in several if _may_be_whole(observed, obs, state, row, table.size[row])]
        if _make_up_one(Boxes.of(table, several), Boxes.of(observed, [obs]), state.config.min_thickness_m):
            views[obs] = several
    return views


def _apart_views(observed: Observed, found: Association, state: GraphState) -> dict[int, list[int]]:
    """Return the rows whose box several like things fill, with the observations of these, the best match first."""
    first = {int(row): int(obs) for obs, row in found.matched}
    sharing: dict[int, list[int]] = {}
    for obs, row in found.parts.tolist():
        sharing.setdefault(row, [first[row]] if row in first else []).append(obs)
    views = {}
    for row, several in sharing.items():
        if len(several) < 2 or observed.truncated[several].any():
            continue
        whole = all(_may_be_whole(observed, obs, state, row, observed.size[obs]) for obs in several)
        one = Boxes.of(state.table, [row])
        if whole and _make_up_one(Boxes.of(observed, several), one, state.config.min_thickness_m):
            views[row] = several
    return views


def _make_up_one(parts: Boxes, one: Boxes, min_side_m: float) -> bool:
    """Return whether boxes of like volumes lie side by side in one and fill it."""
    count = len(parts.yaw)
    if count < 2:
        return False
    within = parts.overlap(Boxes.of(one, np.zeros(count, np.intp)), min_side_m)
    volume, whole = (volumes(np.maximum(size, min_side_m)) for size in (within.size_a, within.size_b))
    share = volume / whole
    if volume.max() > _LIKE_SIZED * volume.min() or (within.containment < _INSIDE).any() or (share > _SMALLER).any():
        return False
    first, second = np.triu_indices(count, 1)
    beside = Boxes.of(parts, first).overlap(Boxes.of(parts, second), min_side_m)
    return bool((beside.containment < _BESIDE).all()) and _FILLED[0] <= float(share.sum()) <= _FILLED[1]


def _may_be_whole(observed: Observed, obs: int, state: GraphState, row: int, size: NDArray[np.float64]) -> bool:
    """Return whether an observation and an object may be of one class, and a thing of that size (3,) a whole one."""
    record = state.table.record(row)
    agreement = class_agreement(observed.observations[obs].class_scores, record)
    return agreement >= _SAME_CLASS and state.sizes.may_be(record.best_class, size)
