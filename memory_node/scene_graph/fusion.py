"""Fuses an observation into an object (a Kalman filter on each face of the box, sums for class and yaw); and how likely
a new object exists.

A camera sees some faces and only bounds the others: a face turned away, or any face of a truncated observation, is
known to lie at least where the observed one does. Such faces only ever push the estimate outwards.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.observation import ObjectObservation
from memory_node.domain.states import log_odds, with_state
from memory_node.scene_graph.association import alike
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import MAX_YAW_WEIGHT, ObjectRecord, ObjectTable, Rows
from memory_node.scene_graph.observed import Observed, share_inside
from memory_node.scene_graph.state import ClassSizes, GraphState

_MAX_CLASS_WEIGHT = 4.0  # a bound on the weight, so that a new name can win after that many sightings
_CLASSES_KEPT = 6
# Share by which an unseen face follows an observation that reaches beyond it; its variance stays the same.
_BOUND_GAIN = 0.5
_SURPRISE = 4.0
# Share by which a top or a foot follows an observation that ends earlier, as when something hides the foot.
_SHRINK_GAIN = 0.1
_MOST_ASKEW_RAD = 0.15


def face_variances(
    observed: Observed, which: Rows, unseen_sigma_m: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return for observations the variance (k, 2, 3) of lower and upper faces and which of them were really seen."""
    center, size, yaw = observed.center[which], observed.size[which], observed.yaw[which]
    cos, sin = np.cos(yaw), np.sin(yaw)
    ray = observed.camera - center
    local = np.stack([cos * ray[:, 0] + sin * ray[:, 1], cos * ray[:, 1] - sin * ray[:, 0], ray[:, 2]], axis=1)
    seen = np.stack([local < -0.5 * size, local > 0.5 * size], axis=1)
    # From above, the rim of the top shows all four sides. The foot shows wherever a side does.
    seen[:, :, :2] |= seen[:, 1, 2][:, None, None]
    seen[:, 0, 2] |= seen[:, :, :2].any(axis=(1, 2))
    # A thing that is seen level or from below has its top at the end of the visible side.
    seen[:, 1, 2] |= seen[:, :, :2].any(axis=(1, 2))
    seen &= ~observed.truncated[which][:, None, None]
    variance = np.where(seen, 2.0 * observed.variance[which][:, None, :], unseen_sigma_m**2)
    return variance, seen


def fuse_geometry(
    observed: Observed, which: Rows, table: ObjectTable, rows: Rows, config: SceneGraphConfig
) -> NDArray[np.float64]:
    """Refine the boxes of `rows` with the observations `which`, pair by pair; return how much of where each one lies
    now (k,) comes from its observation, 0 to 1."""
    pairs = observed.overlap_with(table, which, rows, 0.0)
    variance, seen = face_variances(observed, which, config.unseen_face_sigma_m)
    swapped = np.abs(pairs.size_a - observed.size[which]).max(axis=1) > 1e-12
    variance[swapped, :, :2] = variance[swapped][:, :, [1, 0]]
    seen[swapped, :, :2] = seen[swapped][:, :, [1, 0]]
    half = 0.5 * table.size[rows]
    old = np.stack([-half, half], axis=1)
    new = np.stack([pairs.offset - 0.5 * pairs.size_a, pairs.offset + 0.5 * pairs.size_a], axis=1)
    outside = np.stack([new[:, 0] < old[:, 0], new[:, 1] > old[:, 1]], axis=1)
    # Errors of one drive go together (drift): no number of frames makes a face certain.
    prior = np.maximum(table.face_variance[rows], config.correlated_sigma_m**2)
    surprise = (new - old) ** 2
    # An observation far outside both uncertainties is no noise: the thing was pushed, or more of it shows now, and what
    # was known of the face is old.
    surprised = seen & (surprise > _SURPRISE**2 * (prior + variance))
    # Where only the top or only the foot draws back, less of the thing shows. Sides also do so when a box is turned.
    step = new - old
    pushed = step * step[:, ::-1] > 0.25 * surprise
    shrunk = surprised & ~outside & ~pushed & (np.arange(3) == 2)
    prior = np.where(surprised & ~shrunk, surprise, prior)
    gain = np.where(seen, prior / (prior + variance), 0.0)
    gain[shrunk] = np.minimum(gain[shrunk], _SHRINK_GAIN)
    # A part seen at an angle says little about the faces.
    bound = ~seen & outside & (np.abs(pairs.turn_rad) < _MOST_ASKEW_RAD)[:, None, None]
    gain_or_bound = np.where(bound, _BOUND_GAIN, gain)
    faces = old + gain_or_bound * (new - old)
    table.face_variance[rows] = np.maximum(prior * (1.0 - gain), config.correlated_sigma_m**2)
    middle = 0.5 * (faces[:, 0] + faces[:, 1])
    yaw = table.yaw[rows].astype(np.float64)
    cos, sin = np.cos(yaw), np.sin(yaw)
    table.center[rows, 0] += cos * middle[:, 0] - sin * middle[:, 1]
    table.center[rows, 1] += sin * middle[:, 0] + cos * middle[:, 1]
    table.center[rows, 2] += middle[:, 2]
    table.size[rows] = np.maximum(faces[:, 1] - faces[:, 0], 1e-3)
    weight = np.where(observed.truncated[which], 0.1, 1.0)
    total = table.yaw_weight[rows] + weight
    table.yaw[rows] = yaw + pairs.turn_rad * weight / total
    table.yaw_weight[rows] = np.minimum(total, MAX_YAW_WEIGHT)
    return np.asarray(gain_or_bound[:, :, :2].mean(axis=(1, 2)))


def take_geometry(observed: Observed, which: int, table: ObjectTable, row: int, config: SceneGraphConfig) -> None:
    """Set a row's box to one observation, as for a new or a moved object."""
    variance, _ = face_variances(observed, np.array([which]), config.unseen_face_sigma_m)
    table.center[row] = observed.center[which]
    table.size[row] = observed.size[which]
    table.yaw[row] = observed.yaw[which]
    table.yaw_weight[row] = 0.1 if observed.truncated[which] else 1.0
    table.face_variance[row] = variance[0]


def fuse_label(table: ObjectTable, row: int, observation: ObjectObservation, sizes: ClassSizes) -> None:
    """Add an observation's class scores, states, embedding and picture to a row's; sizes: doubts labels that do not
    suit the size of the thing, as far as it is known."""
    record = table.record(row)
    _fuse_classes(table, row, observation, sizes)
    for belief in observation.states:
        table.set_states(row, with_state(record.states, belief))
    if observation.embedding is not None:
        fuse_embedding(record, observation)
    better = observation.pixels > record.crop_pixels and not (observation.truncated and record.crop_jpeg)
    if (better or not record.crop_jpeg) and (crop := observation.crop()):
        record.crop_jpeg, record.crop_pixels = crop, observation.pixels


def _fuse_classes(table: ObjectTable, row: int, observation: ObjectObservation, sizes: ClassSizes) -> None:
    record = table.record(row)
    classes = record.classes
    # Plain numbers: this is asked of one row at a time, for each thing in view.
    known = float(table.yaw_weight[row]) >= 0.5 * min(int(table.times_seen[row]), MAX_YAW_WEIGHT)
    size = table.size[row] if known else observation.box.size
    for name, score in observation.class_scores.items():
        fit = sizes.fit(name, size, whole=known or not observation.truncated)
        classes[name] = classes.get(name, 0.0) + score * fit
    if observation.class_scores and len(classes) > 1:
        # "object" only stands in until something names the thing
        classes.pop("object", None)
    if len(classes) > _CLASSES_KEPT:
        del classes[min(classes, key=lambda name: (classes[name], name))]
    total = sum(classes.values())
    # What a person said weighs more than the cap and only slowly gives way.
    if total > _MAX_CLASS_WEIGHT and record.provenance != "user":
        for name in classes:
            classes[name] *= _MAX_CLASS_WEIGHT / total
    table.set_class(row, max(classes, key=lambda name: classes[name]))


def fuse_embedding(record: ObjectRecord, observation: ObjectObservation) -> None:
    """Move an object's appearance embedding a step towards an observation's."""
    new = np.asarray(observation.embedding, dtype=np.float32)
    if record.embedding is None or len(record.embedding) != len(new):
        record.embedding = new.astype(np.float16)
        return
    mixed = 0.8 * record.embedding.astype(np.float32) + 0.2 * new
    length = float(np.linalg.norm(mixed))
    if length > 0.0:
        record.embedding = (mixed / length).astype(np.float16)


# Share of an observation inside a known object from which it probably shows that object.
_WITHIN = 0.8


def first_log_odds(state: GraphState, observed: Observed, which: int, rows: Rows, again: bool) -> float:
    """Return the log odds that the unmatched observation `which` shows a real, new thing.

    rows: the present objects around. again: it is the last of several sightings that were first matched with another
    object; then it is believed whatever its score. Three observations are doubtful: a small part, which may belong to
    anything; one inside a known object, which is more often that object under a wrong name; and one too large for its
    class. Doubt is a likelihood ratio, the same at every score.
    """
    config, observation = state.config, observed.observations[which]
    start = log_odds(config.start_existence)
    if not again:
        start = log_odds(_believed(observation, config))
        sliver = observation.truncated and 0 < observation.pixels < config.sliver_pixels
        if sliver or _in_known(state, observed, which, rows):
            start += log_odds(config.start_existence_doubtful) - log_odds(config.start_existence)
    fit = state.sizes.fit(observation.best_class, observation.box.size, whole=False)
    return start + math.log(fit)


def _believed(observation: ObjectObservation, config: SceneGraphConfig) -> float:
    """Return the probability that an observation is of a real thing: its score, which for a calibrated detector is the
    share of such detections that are right (Guo et al. 2017; Kueppers et al. 2020 for boxes).

    Classes exclude each other, so their scores add up. Detectors are surer than they are right, so no score counts for
    more than `start_existence`. Views of one error resemble each other, so the score counts once: further sightings
    weigh by how often errors come again at one place. Without a score, as from geometry, `start_existence` holds.
    """
    if not observation.class_scores:
        return config.start_existence
    score = sum(observation.class_scores.values())
    return min(max(score, config.removed_existence), config.start_existence)


def _in_known(state: GraphState, observed: Observed, which: int, rows: Rows) -> bool:
    """Return whether an observation lies in the place of an object that was seen often; what is seen in part may be of
    a far larger one."""
    table = state.table
    known = rows[(table.times_seen[rows] >= state.config.confirmed_sightings) & (table.log_odds[rows] > 0.0)]
    if not known.size:
        return False
    one = np.full(len(known), which)
    pairs = observed.overlap_with(table, one, known, state.config.min_thickness_m)
    # Views from several sides differ sideways; what stands on a known thing is not in it.
    sideways = 2.0 * state.config.gate_sigma_m * np.array([1.0, 1.0, 0.0])
    inside = share_inside(pairs.offset, pairs.size_a, pairs.size_b + sideways, state.config.min_thickness_m)
    within = inside >= _WITHIN
    within &= observed.truncated[which] | alike(pairs)
    # If the known object had this label before, this is the second time.
    name = observed.observations[which].best_class
    return any(table.record(row).rival != name for row in known[within].tolist())
