"""What a site believes of one object when several robots have seen it.

A pure function of the set of beliefs: the same whatever the order in which they arrived. The beliefs share evidence
in unknown part (each robot starts from what it heard of the others), so their estimates are fused by covariance
intersection (Julier and Uhlmann, 1997), which stays consistent for any correlation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Place, SceneObject
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.store.records import Belief

# 99 % of a chi-square with three degrees of freedom: beyond it two beliefs speak of different places.
_SAME_PLACE = 11.345


def _evidence_ns(belief: Belief) -> int:
    return max(belief.object.last_seen_ns, belief.object.last_missed_ns)


def merge_beliefs(beliefs: Sequence[Belief]) -> Belief:
    """Return the site's belief of one object from its robots' (at least one).

    Position: the robots that agree with the newest sighting. Classes: mean, weighted by sightings. Existence: the
    newest evidence. States: of what excludes each other, the last confirmed. Counts: sums. History: all places.
    """
    if len(beliefs) == 1:
        return beliefs[0]
    ordered = sorted(beliefs, key=lambda belief: belief.robot_id)
    newest = max(ordered, key=lambda belief: (belief.object.last_seen_ns, belief.robot_id))
    evidence = max(ordered, key=lambda belief: (_evidence_ns(belief), belief.robot_id))
    objects = [belief.object for belief in ordered]
    center, covariance = _intersect(newest.object, objects)
    looks = [o for o in (newest.object, *objects) if o.embedding is not None]
    crops = [o for o in (newest.object, *objects) if o.crop_jpeg]
    merged = newest.object.changed(
        class_probabilities=_pool_classes(objects),
        box=OrientedBox(center, newest.object.box.size, newest.object.box.yaw_rad),
        covariance=covariance,
        existence=evidence.object.existence,
        removed=evidence.object.removed,
        first_seen_ns=min(o.first_seen_ns for o in objects),
        last_missed_ns=max(o.last_missed_ns for o in objects),
        times_seen=sum(o.times_seen for o in objects),
        times_missed=sum(o.times_missed for o in objects),
        states=_merge_states(objects),
        history=_merge_history(objects),
        embedding=looks[0].embedding if looks else None,
        crop_jpeg=crops[0].crop_jpeg if crops else b"",
    )
    return Belief(newest.robot_id, merged, max(belief.merged_into for belief in ordered))


def _intersect(newest: SceneObject, objects: Sequence[SceneObject]) -> tuple[np.ndarray, np.ndarray]:
    agreeing = [o for o in objects if o is newest or _same_place(newest, o)]
    if len(agreeing) == 1:
        return newest.box.center, newest.covariance
    informations = [np.linalg.inv(_regular(o.covariance)) for o in agreeing]
    weight = 1.0 / len(agreeing)
    covariance = np.linalg.inv(weight * np.sum(informations, axis=0))
    weighted = np.sum([i @ o.box.center for i, o in zip(informations, agreeing)], axis=0)
    return weight * covariance @ weighted, 0.5 * (covariance + covariance.T)


def _regular(covariance: np.ndarray) -> np.ndarray:
    # A millimetre: nothing is known better, and an all-zero covariance has no inverse.
    return covariance + 1e-6 * np.eye(3)


def _same_place(newest: SceneObject, other: SceneObject) -> bool:
    if (newest.area_id, newest.support_id, newest.inside) != (other.area_id, other.support_id, other.inside):
        return False
    offset = newest.box.center - other.box.center
    spread = _regular(newest.covariance) + _regular(other.covariance)
    return float(offset @ np.linalg.solve(spread, offset)) <= _SAME_PLACE


def _pool_classes(objects: Sequence[SceneObject]) -> dict[str, float]:
    weights = [max(o.times_seen, 1) for o in objects]
    total = float(sum(weights))
    names = sorted({name for o in objects for name in o.class_probabilities})
    return {
        name: sum(w * o.class_probabilities.get(name, 0.0) for w, o in zip(weights, objects)) / total for name in names
    }


def _merge_states(objects: Sequence[SceneObject]) -> tuple[StateBelief, ...]:
    best: dict[frozenset[ObjectState], StateBelief] = {}
    for belief in (state for o in objects for state in o.states):
        group = belief.state.opposites | {belief.state}
        if group not in best or _later(belief, best[group]):
            best[group] = belief
    return tuple(sorted(best.values(), key=lambda belief: (belief.confirmed_ns, belief.state.value)))


def _later(one: StateBelief, other: StateBelief) -> bool:
    def rank(belief: StateBelief) -> tuple[int, float, str]:
        return belief.confirmed_ns, belief.probability, belief.state.value

    return rank(one) > rank(other)


def _merge_history(objects: Sequence[SceneObject]) -> tuple[Place, ...]:
    # Robots that share a history each wrote it down: places with the same span and support are one.
    places = {(p.since_ns, p.until_ns, p.area_id, p.support_id): p for o in objects for p in o.history}
    return tuple(places[key] for key in sorted(places))
