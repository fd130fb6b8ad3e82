"""The keyframes from which an object was seen, each with its share in the object's position; SLAM's corrections use
them."""

from __future__ import annotations

from memory_node.scene_graph.object_table import ObjectRecord

_ANCHORS_KEPT = 8


def note_anchor(record: ObjectRecord, keyframe: str, share: float) -> None:
    """Note the keyframe from which an object was seen; share: the part of the object's position that comes from it."""
    if not keyframe:
        return
    if not record.anchors:
        share = 1.0
    weights = {name: (1.0 - share) * weight for name, weight in record.anchors if share < 1.0}
    weights[keyframe] = weights.get(keyframe, 0.0) + share
    if len(weights) > _ANCHORS_KEPT:
        # The anchor with the least share is dropped; its share goes to the neighbouring keyframe.
        least = min(weights, key=lambda name: weights[name])
        names = list(weights)
        at = names.index(least)
        weights[names[at - 1 if at else 1]] += weights.pop(least)
    record.anchors = tuple(weights.items())
