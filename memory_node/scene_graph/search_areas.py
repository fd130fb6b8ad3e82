"""Ranks areas by where an unseen object is likely: its last places, similar objects nearby, counts of other sites, and
areas that were not looked at recently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.domain.answer import RankedArea
from memory_node.domain.geometry import FloatArray
from memory_node.domain.names import embedded_now
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import Area
from memory_node.scene_graph.place_habits import PlaceHabits
from memory_node.scene_graph.state import GraphState

_NS_PER_HOUR = 3.6e12
_HALF_LIFE_H = 24.0
_ALIKE = 0.3
_SURE = 8.0  # the weight of a thing that is certainly there


def rank_areas(
    state: GraphState,
    areas: Sequence[Area],
    object_class: str,
    now_ns: int,
    k: int = 0,
    embedder: TextEmbedder | None = None,
    habits: PlaceHabits | None = None,
    room_kinds: Mapping[str, str] = MappingProxyType({}),
) -> tuple[RankedArea, ...]:
    """Return areas by the probability that an object of the class is there, best first; k = 0 gives all. The
    probabilities sum to 1. Removed objects count, too: a thing may be where it used to be. habits: counts of other
    sites; with them, furniture that takes twice the work to look into ranks like furniture that is half as likely.
    room_kinds: of rooms by id.
    """
    if not areas:
        return ()
    index = {area.id: i for i, area in enumerate(areas)}
    area_of_code = np.array([index.get(area_id, -1) for area_id in state.table.area_ids], dtype=np.intp)
    seen = _seen_there(state, index, area_of_code, object_class, now_ns)
    company, companion = _company(state, area_of_code, len(areas), object_class, embedder)
    viewed = np.array([area.last_viewed_ns for area in areas], dtype=np.int64)
    weight, effort = 0.2 + 4.0 * company**2, np.ones(len(areas))
    if habits is not None:
        expected, effort = _habitual(state, areas, area_of_code, object_class, habits, room_kinds, weight)
        # Areas without known furniture get no expectation from habits; they rank as without habits.
        weight = np.where(np.isnan(expected), weight, _SURE * expected)
    # What lies where nobody has looked is not known: such an area is as likely as others are on the whole.
    if viewed.any():
        weight[viewed == 0] = np.maximum(weight[viewed == 0], weight[viewed > 0].mean())
    weight = weight + seen
    # An area that was just looked at in vain is unlikely; its probability recovers with time.
    hours = (now_ns - viewed) / _NS_PER_HOUR
    unseen = 1.0 - state.config.overlooked
    weight *= np.where(viewed == 0, 1.0, 1.0 - unseen * np.exp(-np.maximum(hours, 0.0)))
    probability = weight / weight.sum()

    words = [spoken(name) for name in (*state.table.class_names, object_class)]

    def reason(index: int) -> str:
        if seen[index] > 0.0:
            return f"{words[-1]} was seen there"
        if company[index] > _ALIKE:
            return f"{words[companion[index]]} is there"
        return "part of the home" if viewed[index] else "not looked at yet"

    order = np.argsort(-probability / effort, kind="stable")[: k if k > 0 else len(areas)]
    return tuple(
        RankedArea(areas[i].id, areas[i].name, areas[i].position, float(probability[i]), reason(i))
        for i in order.tolist()
    )


def _seen_there(
    state: GraphState, index: dict[str, int], area_of_code: NDArray[np.intp], object_class: str, now_ns: int
) -> FloatArray:
    """Return for each area (n,) its weight from present and earlier objects of the class.

    index: of each area by its id; area_of_code: the same by the table's number of it, -1 for none.
    """
    table = state.table
    rows = state.rows_of_class(object_class)
    area = area_of_code[table.area_code[rows]]
    stamp_ns = table.last_seen[rows]
    believed = 1.0 / (1.0 + np.exp(-table.log_odds[rows].astype(np.float64)))
    believed *= np.where(table.removed[rows], 0.3, 1.0)
    past = [
        (index[place.area_id], place.until_ns)
        for row in rows.tolist()
        for place in table.record(row).history
        if place.area_id in index
    ]
    if past:
        where, until = (np.array(column, dtype=np.int64) for column in zip(*past))
        area, stamp_ns = np.concatenate([area, where]), np.concatenate([stamp_ns, until])
        believed = np.concatenate([believed, np.full(len(past), 0.3)])
    hours = np.maximum(0.0, (now_ns - stamp_ns) / _NS_PER_HOUR)
    weight = _SURE * believed * (0.25 + 0.75 * 0.5 ** (hours / _HALF_LIFE_H))
    known = area >= 0
    return np.bincount(area[known], weights=weight[known], minlength=len(index)).astype(np.float64)


def _habitual(
    state: GraphState,
    areas: Sequence[Area],
    area_of_code: NDArray[np.intp],
    object_class: str,
    habits: PlaceHabits,
    room_kinds: Mapping[str, str],
    likeness: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return for each area (n,) how many things of the class its furniture usually holds, and the work of one look.

    NaN: no furniture is known there. Of several pieces of furniture the one with most work counts. likeness: the weight
    of each area (n,) from similar objects, which matters where habits have few counts.
    """
    table = state.table
    furniture: dict[str, dict[str, str]] = {}
    area_of: dict[str, int] = {}
    for row in np.flatnonzero(table.alive & ~table.removed).tolist():
        area, record = int(area_of_code[table.area_code[row]]), table.record(row)
        kind = state.catalogue.find(record.best_class)
        if area >= 0 and kind is not None and kind.is_receptacle and not kind.pickupable:
            furniture.setdefault(areas[area].room_id, {})[record.id] = kind.name
            area_of[record.id] = area
    expected, effort = np.full(len(areas), np.nan), np.ones(len(areas))
    expected[list(area_of.values())] = 0.0
    for room_id, places in furniture.items():
        alike = {key: float(likeness[area_of[key]]) for key in places}
        for key, rate in habits.expected(object_class, places, room_kinds.get(room_id, ""), alike).items():
            expected[area_of[key]] += rate
            effort[area_of[key]] = max(effort[area_of[key]], habits.effort(places[key]))
    return expected, effort


def _company(
    state: GraphState, area_of_code: NDArray[np.intp], count: int, object_class: str, embedder: TextEmbedder | None
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return for each area (count,) how like the class its most similar present object is, and that one's class number
    (of equals, that of the first in the table)."""
    table = state.table
    best, companion = np.zeros(count), np.full(count, -1, np.intp)
    rows = np.flatnonzero(table.alive & ~table.removed)
    area, code = area_of_code[table.area_code[rows]], table.class_code[rows]
    area, code = area[area >= 0], code[area >= 0]
    if embedder is None or not area.size:
        return best, companion
    used = np.flatnonzero(np.bincount(code))
    names = embedded_now(sorted(spoken(table.class_names[i]) for i in used.tolist()))
    vectors = embedder.embed([spoken(object_class), *names])
    cosine = dict(zip(names, np.clip(vectors[1:] @ vectors[0], 0.0, 1.0).tolist()))
    likeness = np.zeros(len(table.class_names))
    likeness[used] = [cosine.get(spoken(table.class_names[i]), 0.0) for i in used.tolist()]
    np.maximum.at(best, area, likeness[code])
    equal = np.flatnonzero(likeness[code] == best[area])[::-1]
    companion[area[equal]] = code[equal]
    return best, companion
