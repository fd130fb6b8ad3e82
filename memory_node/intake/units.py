"""A long-term object as a unit of the short-term memory."""

from __future__ import annotations

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.scene import SceneObject


def unit_of(found: SceneObject, room_name: str = "", source: str = "") -> MemoryUnit:
    """Return the unit that says the same as `found`; source defaults to where the object is known from."""
    return MemoryUnit(
        object_id=found.id,
        object_class=found.class_name,
        position=found.box.center,
        covariance=found.covariance,
        stamp_ns=found.last_seen_ns,
        states=found.states,
        embedding=None,  # the unit's embedding is of its words, the object's of its looks
        source=source or found.provenance,
        area_id=found.area_id,
        support_id=found.support_id,
        existence=found.existence,
        class_probability=found.class_probabilities[found.class_name],
        size=found.box.size,
        yaw_rad=found.box.yaw_rad,
        last_missed_ns=found.last_missed_ns,
        inside=found.inside,
        room_name=room_name,
    )
