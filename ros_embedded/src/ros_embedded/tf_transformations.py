"""Rotations as quaternions [x, y, z, w], Euler angles and 4x4 matrices: the functions of tf_transformations in use.

Axes are named as there: `s` or `r` for a static or rotating frame, then the order; `sxyz` is roll, pitch, yaw.
"""
# ruff: noqa: D103 - each does what its name says

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

Vector = Sequence[float] | np.ndarray


def _order(axes: str) -> str:
    """scipy's name: lower case for axes that stay, upper case for axes that turn."""
    return axes[1:].lower() if axes[0] == "s" else axes[1:].upper()


def _matrix(rotation: Rotation) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = rotation.as_matrix()
    return matrix


def quaternion_from_euler(ai: float, aj: float, ak: float, axes: str = "sxyz") -> np.ndarray:
    return Rotation.from_euler(_order(axes), [ai, aj, ak]).as_quat()


def euler_from_quaternion(quaternion: Vector, axes: str = "sxyz") -> tuple[float, float, float]:
    return tuple(Rotation.from_quat(quaternion).as_euler(_order(axes)).tolist())  # type: ignore[return-value]


def euler_matrix(ai: float, aj: float, ak: float, axes: str = "sxyz") -> np.ndarray:
    return _matrix(Rotation.from_euler(_order(axes), [ai, aj, ak]))


def euler_from_matrix(matrix: Any, axes: str = "sxyz") -> tuple[float, float, float]:
    return euler_from_quaternion(quaternion_from_matrix(matrix), axes)


def quaternion_matrix(quaternion: Vector) -> np.ndarray:
    return _matrix(Rotation.from_quat(quaternion))


def quaternion_from_matrix(matrix: Any) -> np.ndarray:
    return Rotation.from_matrix(np.asarray(matrix)[:3, :3]).as_quat()


def quaternion_about_axis(angle: float, axis: Vector) -> np.ndarray:
    return Rotation.from_rotvec(angle * unit_vector(axis)).as_quat()


def rotation_matrix(angle: float, direction: Vector, point: Vector | None = None) -> np.ndarray:
    """Turn about an axis through the origin or `point`."""
    matrix = quaternion_matrix(quaternion_about_axis(angle, direction[:3]))
    if point is not None:
        matrix[:3, 3] = point[:3] - matrix[:3, :3] @ point[:3]
    return matrix


def quaternion_multiply(quaternion1: Vector, quaternion0: Vector) -> np.ndarray:
    """The rotation that turns by quaternion0 first; norms multiply."""
    (x1, y1, z1, w1), (x0, y0, z0, w0) = quaternion1, quaternion0
    vector = w1 * np.array([x0, y0, z0]) + w0 * np.array([x1, y1, z1]) + np.cross([x1, y1, z1], [x0, y0, z0])
    return np.array([*vector, w1 * w0 - x1 * x0 - y1 * y0 - z1 * z0])


def quaternion_conjugate(quaternion: Vector) -> np.ndarray:
    return np.asarray(quaternion, float) * [-1, -1, -1, 1]


def quaternion_inverse(quaternion: Vector) -> np.ndarray:
    return quaternion_conjugate(quaternion) / np.dot(quaternion, quaternion)


def quaternion_slerp(quat0: Vector, quat1: Vector, fraction: float) -> np.ndarray:
    return Slerp([0, 1], Rotation.from_quat([quat0, quat1]))(fraction).as_quat()


def random_quaternion() -> np.ndarray:
    return Rotation.random().as_quat()


def identity_matrix() -> np.ndarray:
    return np.eye(4)


def translation_matrix(direction: Vector) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = direction[:3]
    return matrix


def translation_from_matrix(matrix: Any) -> np.ndarray:
    return np.array(matrix)[:3, 3]


def inverse_matrix(matrix: Any) -> np.ndarray:
    return np.linalg.inv(matrix)


def concatenate_matrices(*matrices: Any) -> np.ndarray:
    return reduce(np.matmul, matrices, np.eye(4))


def vector_norm(data: Any, axis: int | None = None) -> Any:
    return np.linalg.norm(data) if axis is None else np.linalg.norm(data, axis=axis)


def unit_vector(data: Any, axis: int | None = None) -> np.ndarray:
    return np.asarray(data, float) / np.linalg.norm(data, axis=axis, keepdims=axis is not None)
