"""KARMA's short-term memory unit: one recently seen or used object."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, finite_array
from memory_node.domain.scene import SceneObject
from memory_node.domain.states import ObjectState, StateBelief


@dataclass(frozen=True, eq=False)
class MemoryUnit:
    """One object in the short-term memory.

    position (3,) in metres in `frame_id`, covariance (3, 3) in m^2; stamp_ns when it was last seen or used;
    source: "camera", "skill", "vlm", "user"; looks: unit vector of its picture, or None.
    used_ns: when a skill of the robot last did something with it, 0 for a thing that it has only seen.
    size (3,) in metres along its own axes, zeros when unknown; last_missed_ns: last looked for in vain since `stamp_ns`
    (0 = not since); support_id, support_class: what it stands on, or in when `inside`.
    """

    object_id: str
    object_class: str
    position: FloatArray
    covariance: FloatArray
    stamp_ns: int
    frame_id: str = "map"
    states: tuple[StateBelief, ...] = ()
    image_path: str = ""
    source: str = "camera"
    area_id: str = ""
    support_id: str = ""
    existence: float = 1.0
    class_probability: float = 1.0
    size: FloatArray = field(default_factory=lambda: np.zeros(3))
    yaw_rad: float = 0.0
    last_missed_ns: int = 0
    inside: bool = False
    room_name: str = ""
    support_class: str = ""
    looks: NDArray[np.float32] | None = None
    used_ns: int = 0

    def __post_init__(self) -> None:
        if not self.object_id:
            raise InvalidValueError("MemoryUnit.object_id: expected an id, got an empty string")
        object.__setattr__(self, "position", finite_array(self.position, (3,), "MemoryUnit.position"))
        object.__setattr__(self, "covariance", finite_array(self.covariance, (3, 3), "MemoryUnit.covariance"))
        object.__setattr__(self, "size", finite_array(self.size, (3,), "MemoryUnit.size"))

    @classmethod
    def of_object(
        cls, found: SceneObject, room_name: str = "", support_class: str = "", source: str = ""
    ) -> MemoryUnit:
        """Return the unit that says the same as a long-term object; source defaults to where that is known from."""
        return cls(
            object_id=found.id,
            object_class=found.class_name,
            position=found.box.center,
            covariance=found.covariance,
            stamp_ns=found.last_seen_ns,
            states=found.states,
            source=source or found.provenance,
            area_id=found.area_id,
            support_id=found.support_id,
            existence=found.existence,
            class_probability=found.class_probability,
            size=found.box.size,
            yaw_rad=found.box.yaw_rad,
            last_missed_ns=found.last_missed_ns,
            inside=found.inside,
            room_name=room_name,
            support_class=support_class,
        )

    def has_state(self, state: ObjectState, threshold: float = 0.5) -> bool:
        """Return whether `state` is believed with at least `threshold`."""
        return any(belief.state is state and belief.probability >= threshold for belief in self.states)
