"""The probability of existence of a new object: what its detector says, and that most unexpected observations are
errors about known objects."""

from __future__ import annotations

import math

import numpy as np

from memory_node.domain.observation import ObjectObservation
from memory_node.domain.states import log_odds
from memory_node.scene_graph.association import alike
from memory_node.scene_graph.box_overlap import share_inside
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.observed import Observed
from memory_node.scene_graph.state import GraphState

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
