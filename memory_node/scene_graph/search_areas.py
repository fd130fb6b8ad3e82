"""Where something is likely to be when nobody knows: last places, the company it keeps, and what was not looked at
lately."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import RankedArea
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import Area, SceneObject
from memory_node.scene_graph.find import spoken_name
from memory_node.scene_graph.state import plain_name

_NS_PER_HOUR = 3.6e12
_HALF_LIFE_H = 24.0


def rank_areas(
    areas: Sequence[Area],
    objects: Sequence[SceneObject],
    object_class: str,
    now_ns: int,
    k: int = 0,
    embedder: TextEmbedder | None = None,
) -> tuple[RankedArea, ...]:
    """Return areas by the probability that an object of the class is there, best first; k = 0 gives all. They sum to 1.

    objects: removed ones included, since where a thing used to be is where it may be again.
    """
    if not areas:
        return ()
    weight = np.full(len(areas), 0.2)
    reason = ["not looked at yet" if area.last_viewed_ns == 0 else "part of the home" for area in areas]
    at = {area.id: index for index, area in enumerate(areas)}
    _add_company(weight, reason, at, objects, object_class, embedder)
    _add_places(weight, reason, at, objects, object_class, now_ns)
    hours = np.array(
        [(now_ns - area.last_viewed_ns) / _NS_PER_HOUR if area.last_viewed_ns else np.inf for area in areas]
    )
    # Just looked at and not found there: unlikely now, and slowly likely again.
    weight *= np.where(np.isfinite(hours), 1.0 - 0.7 * np.exp(-np.where(np.isfinite(hours), hours, 0.0)), 1.0)
    probability = weight / weight.sum()
    order = np.lexsort((np.arange(len(areas)), -probability))
    ranked = tuple(
        RankedArea(areas[i].id, areas[i].name, areas[i].position, float(probability[i]), reason[i])
        for i in order.tolist()
    )
    return ranked[:k] if k > 0 else ranked


def _add_places(
    weight: NDArray[np.float64],
    reason: list[str],
    at: dict[str, int],
    objects: Sequence[SceneObject],
    object_class: str,
    now_ns: int,
) -> None:
    wanted = plain_name(object_class)
    for found in objects:
        if plain_name(found.class_name) != wanted:
            continue
        seen = [(found.area_id, found.last_seen_ns, found.existence * (0.3 if found.removed else 1.0))]
        seen += [(place.area_id, place.until_ns, 0.3) for place in found.history]
        for area_id, stamp_ns, believed in seen:
            if area_id in at:
                hours = max(0.0, (now_ns - stamp_ns) / _NS_PER_HOUR)
                weight[at[area_id]] += 8.0 * believed * (0.25 + 0.75 * 0.5 ** (hours / _HALF_LIFE_H))
                reason[at[area_id]] = f"{spoken_name(object_class)} was seen there"


def _add_company(
    weight: NDArray[np.float64],
    reason: list[str],
    at: dict[str, int],
    objects: Sequence[SceneObject],
    object_class: str,
    embedder: TextEmbedder | None,
) -> None:
    present = [found for found in objects if not found.removed and found.area_id in at]
    if embedder is None or not present:
        return
    names = sorted({found.class_name for found in present})
    vectors = embedder.embed([spoken_name(object_class), *map(spoken_name, names)])
    alike = dict(zip(names, np.clip(vectors[1:] @ vectors[0], 0.0, 1.0).tolist()))
    best: dict[int, tuple[float, str]] = {}
    for found in present:
        index, likeness = at[found.area_id], alike[found.class_name]
        if likeness > best.get(index, (0.0, ""))[0]:
            best[index] = (likeness, found.class_name)
    for index, (likeness, name) in best.items():
        weight[index] += 4.0 * likeness**2
        if likeness > 0.3:
            reason[index] = f"{spoken_name(name)} is there"
