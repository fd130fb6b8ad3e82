"""The keyframes that an object was seen from, and how much of where it lies comes from each, for SLAM's corrections."""

from __future__ import annotations

from memory_node.scene_graph.object_table import ObjectRecord

_ANCHORS_KEPT = 8


def note_anchor(record: ObjectRecord, keyframe: str, share: float) -> None:
    """Note the keyframe that an object was seen from; share: how much of where it lies comes from there."""
    if not keyframe:
        return
    if not record.anchors:
        share = 1.0
    weights = {name: (1.0 - share) * weight for name, weight in record.anchors if share < 1.0}
    weights[keyframe] = weights.get(keyframe, 0.0) + share
    if len(weights) > _ANCHORS_KEPT:
        # What is owed to the least of them is owed to its neighbour on the way from now on.
        least = min(weights, key=lambda name: weights[name])
        names = list(weights)
        at = names.index(least)
        weights[names[at - 1 if at else 1]] += weights.pop(least)
    record.anchors = tuple(weights.items())
