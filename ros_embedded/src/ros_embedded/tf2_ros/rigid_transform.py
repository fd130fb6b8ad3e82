"""Rotation with translation: composing, inverting and interpolating, on top of pytransform3d."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pytransform3d.rotations import concatenate_quaternions, q_conj, q_prod_vector, quaternion_slerp


@dataclass(frozen=True)
class RigidTransform:
    """`a_T_b`: maps coordinates in frame b to frame a.

    translation_m is a float64 array (3,); rotation_wxyz is a float64 unit quaternion (4,), scalar first.
    """

    translation_m: np.ndarray
    rotation_wxyz: np.ndarray

    @classmethod
    def from_msgs(cls, translation: Any, rotation: Any) -> RigidTransform:
        """From a Vector3 or Point and a Quaternion."""
        shift = np.array([translation.x, translation.y, translation.z])
        return cls(shift, np.array([rotation.w, rotation.x, rotation.y, rotation.z]))

    def normalized(self) -> RigidTransform:
        """As tf2 keeps it: a unit quaternion, its scalar positive or, if that is small, its largest component."""
        w, *xyz = self.rotation_wxyz / np.linalg.norm(self.rotation_wxyz)
        leading = w if w * w > 0.25 else max(xyz, key=abs)
        return RigidTransform(self.translation_m, np.copysign(1.0, leading) * np.array([w, *xyz]))

    def to_msgs(self, translation: Any, rotation: Any) -> None:
        """Write into a Vector3 or Point and a Quaternion."""
        translation.x, translation.y, translation.z = self.translation_m.tolist()
        rotation.w, rotation.x, rotation.y, rotation.z = self.rotation_wxyz.tolist()

    def __matmul__(self, b_T_c: RigidTransform) -> RigidTransform:
        """`a_T_c` of `a_T_b @ b_T_c`."""
        return RigidTransform(
            self.translation_m + q_prod_vector(self.rotation_wxyz, b_T_c.translation_m),
            concatenate_quaternions(self.rotation_wxyz, b_T_c.rotation_wxyz),
        )

    def inverse(self) -> RigidTransform:
        """`b_T_a` of `a_T_b`."""
        rotation_wxyz = q_conj(self.rotation_wxyz)
        return RigidTransform(-q_prod_vector(rotation_wxyz, self.translation_m), rotation_wxyz)

    def towards(self, other: RigidTransform, share: float) -> RigidTransform:
        """Interpolate: the translation linearly, the rotation on the shorter great arc (slerp); share 0 is self."""
        return RigidTransform(
            self.translation_m * (1.0 - share) + other.translation_m * share,
            quaternion_slerp(self.rotation_wxyz, other.rotation_wxyz, share, shortest_path=True),
        )


IDENTITY = RigidTransform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
