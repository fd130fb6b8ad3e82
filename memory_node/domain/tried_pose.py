"""A pose of base, gripper or thing at which a skill was tried, and what came of it (BrainMem, appendix D)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.text_enum import TextEnum


class PoseKind(TextEnum):
    """What stood at a tried pose."""

    STAND_OFF = "stand_off"  # the base, for the arm to use the thing
    GRASP = "grasp"  # the tool, when it took the thing
    SPOT = "spot"  # what was put down in or on the thing


@dataclass(frozen=True)
class TriedPose:
    """numbers: x, y, z (m) and the quaternion x, y, z, w, as seen from the thing: from the middle of its box, turned by
    its yaw. object_id, object_class: the thing, as memory has it. worked: whether the skill got on from there."""

    kind: PoseKind
    object_id: str
    object_class: str
    numbers: tuple[float, float, float, float, float, float, float]
    worked: bool

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TriedPose:
        """Return the pose of stored values.

        Raises:
            InvalidValueError: it is none.
        """
        try:
            numbers = tuple(map(float, values["numbers"]))
            if len(numbers) != 7:
                raise ValueError("expected seven numbers")
            named = str(values["object_id"]), str(values["object_class"])
            return cls(PoseKind(values["kind"]), *named, numbers, bool(values["worked"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidValueError(f"a tried pose: {error!r}") from None
