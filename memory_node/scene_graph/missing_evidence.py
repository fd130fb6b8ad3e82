"""Evidence of a frame against objects that it should show and does not."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.domain.observation import Frame
from memory_node.scene_graph.absence import Sight
from memory_node.scene_graph.association import Association, alike
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.observed import Observed
from memory_node.scene_graph.state import GraphState

# Share of the smaller of two boxes in the other from which they cannot both be there.
_FILLED = 0.6
# Share of the rays to a place that must reach it or pass it for the place to count as looked at.
_LOOKED_AT = 0.6
# Share of the rays through a place from which the place counts as seen through.
_SEEN_THROUGH = 0.5
# Half hidden places: least share of rays that must reach the place, and least share of these that must pass through it.
_GLIMPSED, _EMPTY = 0.3, 2.0 / 3.0


def missing_evidence(
    state: GraphState, frame: Frame, observed: Observed, rows: Rows, sight: Sight, found: Association
) -> FloatArray:
    """Return for each row (m,) the logarithm of a likelihood ratio, at most 0: existence against absence.

    observed, found: what the frame shows, and which rows that is. sight: what its depth image says of the rows' places.
    """
    table, config = state.table, state.config
    unmatched = sight.in_view & ~table.among(found.matched[:, 1])[rows]
    missing = unmatched & ~table.sheltered[rows]
    looked = unmatched & (sight.clear >= _LOOKED_AT)
    # Rays that go through the place tell more than a part of something there.
    open_share = sight.through - table.porosity[rows]
    passed = looked & (open_share >= _SEEN_THROUGH)
    sheltered = passed & ~missing
    passed[sheltered] = [_is_looked_into(state, observed, row, found) for row in rows[sheltered].tolist()]
    overlooked = missing & looked & ~passed & ~table.among(found.parts[:, 1])[rows] & frame.complete
    overlooked &= sight.pixels >= config.evidence_min_pixels
    overlooked |= _taken(state, observed, rows, missing & ~passed, found)
    evidence = np.where(overlooked, math.log(config.miss_likelihood_ratio), 0.0)
    evidence[passed] = math.log(config.through_likelihood_ratio)
    # Half hidden, and the visible part of its place is empty: the smaller that part, the weaker the evidence.
    glimpsed = missing & ~passed & (sight.clear >= _GLIMPSED) & (open_share >= _EMPTY * sight.clear)
    partly = open_share[glimpsed] * math.log(config.through_likelihood_ratio)
    evidence[glimpsed] = np.minimum(evidence[glimpsed], partly)
    return evidence


def _is_looked_into(state: GraphState, observed: Observed, row: int, found: Association) -> bool:
    """Return whether the closed container of a row, seen around the row's place, must be open: rays pass there.

    Where it is not seen around that place, the thing went along with a door or a drawer.
    """
    container = state.table.row_of.get(state.table.record(row).support_id, -1)
    views = found.matched[found.matched[:, 1] == container, 0].tolist()
    return any(observed.observations[obs].box.contains(state.table.center[row][None])[0] for obs in views)


def _taken(
    state: GraphState, observed: Observed, rows: Rows, missing: NDArray[np.bool_], found: Association
) -> NDArray[np.bool_]:
    """Return whether the place of each missing row (m,) is filled by a thing that is seen: both cannot be there."""
    taken = np.zeros(len(rows), bool)
    seen = np.concatenate([found.matched[:, 0], found.fresh])
    seen = seen[~observed.truncated[seen]]
    which, index = (grid.ravel() for grid in np.meshgrid(seen, np.flatnonzero(missing), indexing="ij"))
    if not which.size:
        return taken
    row, table = rows[index], state.table
    pairs = observed.overlap_with(table, which, row, 0.0)
    # A far smaller thing stands in or on the other, as a cup in a cupboard does.
    filled = (pairs.containment >= _FILLED) & alike(pairs)
    taken[index[filled]] = True
    return taken
