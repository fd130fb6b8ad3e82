"""In which order places are searched: the likeliest for the way, so that equally likely ones make a tour."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memory_node.domain.answer import RankedArea

_LOOK_M = 1.0  # what a look around costs, as metres of way


def in_search_order(areas: Sequence[RankedArea]) -> tuple[RankedArea, ...]:
    """Return areas in the order of a search: the likeliest, then always the one with most probability for its way.

    A greedy route for the expected time until a thing is found. Distances are straight lines in the map frame. O(n^2).
    """
    left = list(areas)
    if not left:
        return ()
    ordered = [left.pop(max(range(len(left)), key=lambda index: left[index].probability))]
    while left:
        here = ordered[-1].position
        gains = [area.probability / (_LOOK_M + math.dist(here, area.position)) for area in left]
        ordered.append(left.pop(gains.index(max(gains))))
    return tuple(ordered)
