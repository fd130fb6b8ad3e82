"""In which order places are searched: the likeliest for the way, so that equally likely ones make a tour."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from memory_node.domain.answer import RankedArea


def in_search_order(areas: Sequence[RankedArea], look_cost_m: float) -> tuple[RankedArea, ...]:
    """Return ranked areas in the order of a search: the first, then always the one with most worth for its way.

    A greedy route for the expected time until a thing is found. An area is worth its probability, but no more than
    those that memory ranks before it: these cost less work to look into. Distances are straight lines in the map frame.
    look_cost_m: what a look around costs, as metres of way; inf: ways cost nothing, and the ranks stay. O(n^2).
    """
    left = list(zip(areas, itertools.accumulate((area.probability for area in areas), min)))
    ordered: list[RankedArea] = []
    while left:
        here = ordered[-1].position if ordered else left[0][0].position
        gains = [worth / (1.0 + math.dist(here, area.position) / look_cost_m) for area, worth in left]
        ordered.append(left.pop(gains.index(max(gains)))[0])
    return tuple(ordered)
