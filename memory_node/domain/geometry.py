"""Poses, boxes and the few rotations that every layer needs; metres, radians, REP-103 axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory_node.domain.errors import InvalidValueError

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

FloatArray = NDArray[np.float64]

_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
# No site is larger; a position farther from the map's origin is an error (m).
POSITION_LIMIT_M = 1e5


def finite_array(value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """Return `value` as a read-only float64 array of `shape`.

    Raises:
        InvalidValueError: another shape, or something in it is NaN or infinite.
    """
    array = np.array(value, dtype=np.float64)
    if array.shape != shape:
        raise InvalidValueError(f"{what}: expected shape {shape}, got {array.shape}")
    # Plain floats: these arrays are tiny and made by the thousand.
    if not all(map(math.isfinite, array.ravel().tolist())):
        raise InvalidValueError(f"{what}: expected finite numbers, got {array.tolist()}")
    array.setflags(write=False)
    return array


def wrap_angle(angle_rad: float) -> float:
    """Return the same angle in [-pi, pi)."""
    return float((angle_rad + np.pi) % (2.0 * np.pi) - np.pi)


@dataclass(frozen=True, eq=False)
class Pose:
    """A rigid transform `a_T_b`: position (3,) in metres and unit quaternion (4,) as x, y, z, w (ROS order)."""

    position: FloatArray = field(default_factory=lambda: np.zeros(3))
    quaternion: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", finite_array(self.position, (3,), "Pose.position"))
        quaternion = finite_array(self.quaternion, (4,), "Pose.quaternion")
        norm = math.sqrt(float(quaternion @ quaternion))
        if abs(norm - 1.0) > 1e-2:
            raise InvalidValueError(f"Pose.quaternion: expected unit length, got {norm:.4f}")
        unit = quaternion / norm
        unit.setflags(write=False)
        object.__setattr__(self, "quaternion", unit)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """Return the pose of a homogeneous (4, 4) matrix."""
        from scipy.spatial.transform import Rotation  # here: half of what importing this module takes, rarely needed

        array = finite_array(matrix, (4, 4), "Pose.from_matrix")
        return cls(array[:3, 3], Rotation.from_matrix(array[:3, :3].copy()).as_quat())  # see rotation

    @classmethod
    def planar(cls, x_m: float, y_m: float, yaw_rad: float, z_m: float = 0.0) -> Pose:
        """Return the pose of something that stands upright."""
        half = 0.5 * yaw_rad
        return cls(np.array([x_m, y_m, z_m]), np.array([0.0, 0.0, np.sin(half), np.cos(half)]))

    @property
    def rotation(self) -> Rotation:
        """The rotation part as scipy knows it."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(self.quaternion.copy())  # scipy before 1.15 refuses read-only arrays

    # Every frame composes dozens of poses; a scipy Rotation takes ten times as long as the few products in it.
    @cached_property
    def axes(self) -> FloatArray:
        """The rotation's matrix (3, 3): the axes of b in frame a, column by column."""
        x, y, z, w = self.quaternion.tolist()
        axes = np.array(
            [
                [x * x - y * y - z * z + w * w, 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
                [2.0 * (x * y + z * w), y * y - x * x - z * z + w * w, 2.0 * (y * z - x * w)],
                [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), z * z - x * x - y * y + w * w],
            ]
        )
        axes.setflags(write=False)
        return axes

    @property
    def matrix(self) -> FloatArray:
        """The homogeneous (4, 4) matrix."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.axes
        matrix[:3, 3] = self.position
        return matrix

    @property
    def yaw_rad(self) -> float:
        """Rotation about +z in [-pi, pi)."""
        x, y, z, w = self.quaternion.tolist()
        return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))

    def inverse(self) -> Pose:
        """Return `b_T_a` of this `a_T_b`."""
        return Pose(-(self.position @ self.axes), self.quaternion * _CONJUGATE)

    def __matmul__(self, other: Pose) -> Pose:
        (x, y, z, w), (a, b, c, d) = self.quaternion.tolist(), other.quaternion.tolist()
        turned = (
            w * a + x * d + y * c - z * b,
            w * b - x * c + y * d + z * a,
            w * c + x * b - y * a + z * d,
            w * d - x * a - y * b - z * c,
        )
        return Pose(self.apply(other.position), np.array(turned))

    def turn_rad(self, other: Pose) -> float:
        """Return the angle from 0 to pi between the rotations of two poses in one frame."""
        return 2.0 * math.acos(min(abs(float(self.quaternion @ other.quaternion)), 1.0))

    def towards(self, other: Pose, share: float) -> Pose:
        """Return the pose that lies `share` (0 to 1) of the way to another: straight, and turning evenly (slerp)."""
        cosine = float(self.quaternion @ other.quaternion)
        end = other.quaternion if cosine >= 0.0 else -other.quaternion
        angle_rad = math.acos(min(abs(cosine), 1.0))
        # Below this the sines' quotient is as inexact as the straight line.
        if angle_rad > 1e-6:
            left, right = (math.sin(part * angle_rad) / math.sin(angle_rad) for part in (1.0 - share, share))
        else:
            left, right = 1.0 - share, share
        position = (1.0 - share) * self.position + share * other.position
        return Pose(position, left * self.quaternion + right * end)

    def apply(self, points: ArrayLike) -> FloatArray:
        """Return points (..., 3) of frame b in frame a."""
        array = np.asarray(points, dtype=np.float64)
        return np.asarray(array @ self.axes.T + self.position)


@dataclass(frozen=True, eq=False)
class OrientedBox:
    """An upright box: center (3,), full size (3,) along its own axes, yaw about +z."""

    center: FloatArray
    size: FloatArray
    yaw_rad: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", finite_array(self.center, (3,), "OrientedBox.center"))
        size = finite_array(self.size, (3,), "OrientedBox.size")
        if min(size.tolist()) < 0.0:
            raise InvalidValueError(f"OrientedBox.size: expected no negative side, got {size.tolist()}")
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "yaw_rad", wrap_angle(float(self.yaw_rad)))

    @property
    def bottom_m(self) -> float:
        """Height of the lower face."""
        return float(self.center[2] - 0.5 * self.size[2])

    @property
    def top_m(self) -> float:
        """Height of the upper face."""
        return float(self.center[2] + 0.5 * self.size[2])

    def footprint(self) -> FloatArray:
        """Return the corners (4, 2) of the box seen from above, counter-clockwise."""
        half_x, half_y = 0.5 * self.size[:2]
        corners = np.array([[-half_x, -half_y], [half_x, -half_y], [half_x, half_y], [-half_x, half_y]])
        cos, sin = np.cos(self.yaw_rad), np.sin(self.yaw_rad)
        return corners @ np.array([[cos, sin], [-sin, cos]]) + self.center[:2]

    def corners(self) -> FloatArray:
        """Return the corners (8, 3), lower face first."""
        base = self.footprint()
        lower = np.column_stack([base, np.full(4, self.bottom_m)])
        upper = np.column_stack([base, np.full(4, self.top_m)])
        return np.vstack([lower, upper])

    def distance_m(self, place: FloatArray) -> float:
        """Return the horizontal distance in metres from a place (2,) to the footprint, 0 within it."""
        return float(np.linalg.norm(np.maximum(np.abs(self.local(place)) - 0.5 * self.size[:2], 0.0)))

    def local(self, points: ArrayLike) -> FloatArray:
        """Return points (..., 2) or (..., 3) of the map along the box's own axes, from its middle, m."""
        at = np.asarray(points, dtype=np.float64)
        local = at - self.center[: at.shape[-1]]
        cos, sin = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        x, y = local[..., 0].copy(), local[..., 1].copy()
        local[..., 0], local[..., 1] = cos * x + sin * y, cos * y - sin * x
        return local

    def contains(self, points: ArrayLike, margin_m: float = 0.0) -> NDArray[np.bool_]:
        """Return for points (n, 3) whether each lies inside the box grown by `margin_m`."""
        return np.asarray((np.abs(self.local(points)) <= 0.5 * self.size + margin_m).all(axis=1))

    def moved_by(self, transform: Pose) -> OrientedBox:
        """Return the box after a rigid transform whose rotation is about +z."""
        return OrientedBox(transform.apply(self.center), self.size, self.yaw_rad + transform.yaw_rad)


@dataclass(frozen=True)
class Intrinsics:
    """A pinhole camera without distortion: focal lengths and principal point in pixels."""

    fx: float
    fy: float
    cx: float
    cy: float
    width: int
    height: int

    def __post_init__(self) -> None:
        if not (self.fx > 0.0 and self.fy > 0.0 and self.width > 0 and self.height > 0):
            raise InvalidValueError(f"Intrinsics: expected positive focal lengths and image size, got {self}")
