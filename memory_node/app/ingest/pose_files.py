"""Cameras and trajectories as recordings' files describe them: matrices, JSON, TUM's lines of quaternions, .log."""

from __future__ import annotations

import bisect
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import FloatArray
from memory_node.perception.camera_model import Camera


def camera_of_matrix_file(path: Path) -> Camera:
    """Return the camera of a text file with a (3, 3) or (4, 4) matrix.

    Raises:
        InvalidValueError: it holds no such matrix.
    """
    try:
        matrix = np.loadtxt(path, ndmin=2)
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"{path}: no readable camera matrix: {error}") from error
    if matrix.shape not in ((3, 3), (3, 4), (4, 4)):
        raise InvalidValueError(f"{path}: expected a camera matrix (3, 3) or (4, 4), got {matrix.shape}")
    return Camera(float(matrix[0, 0]), float(matrix[1, 1]), float(matrix[0, 2]), float(matrix[1, 2]))


def camera_of_json(path: Path) -> tuple[Camera, float | None]:
    """Return the camera of a JSON file and its depth units a metre, None where it does not say.

    Read are fx, fy, cx, cy, w or width, h or height, scale or depth_scale, distortion, at the top or under "camera"
    (Replica, our intrinsics.json), and intrinsic_matrix of nine numbers column by column (Open3D).

    Raises:
        InvalidValueError: it describes no camera.
    """
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"{path}: no readable JSON: {error}") from error
    if isinstance(told, dict) and isinstance(told.get("camera"), dict):
        told = told["camera"]
    try:
        if "intrinsic_matrix" in told:
            fx, _, _, _, fy, _, cx, cy, _ = (float(value) for value in told["intrinsic_matrix"])
        else:
            fx, fy, cx, cy = (float(told[name]) for name in ("fx", "fy", "cx", "cy"))
        size = int(told.get("width", told.get("w", 0))), int(told.get("height", told.get("h", 0)))
        scale = told.get("scale", told.get("depth_scale"))
        camera = Camera(fx, fy, cx, cy, *size, tuple(float(value) for value in told.get("distortion", ())))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError(
            f"{path}: expected fx, fy, cx, cy or intrinsic_matrix of a camera: {error!r}"
        ) from error
    return camera, None if scale is None else float(scale)


def matrix_of_file(path: Path) -> FloatArray:
    """Return the matrix (4, 4) that a text file holds.

    Raises:
        InputSkippedError: it holds none ("pose_unreadable").
    """
    try:
        values = np.array(path.read_text(encoding="utf-8").split(), dtype=np.float64)
    except (OSError, ValueError) as error:
        raise InputSkippedError("pose_unreadable", f"{path.name}: {error}") from error
    if values.size != 16:
        raise InputSkippedError("pose_unreadable", f"{path.name}: expected 16 numbers, got {values.size}")
    return values.reshape(4, 4)


def matrices_by_line(path: Path) -> list[FloatArray]:
    """Return the matrices (4, 4) of a file with 16 numbers a line.

    Raises:
        InvalidValueError: a line holds something else.
    """
    matrices = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            matrices.append(_matrix(line.split(), f"{path}, line {number}"))
    return matrices


def matrices_of_log(path: Path) -> list[FloatArray]:
    """Return the matrices (4, 4) of an Open3D trajectory: before each its three numbers on a line of their own.

    Raises:
        InvalidValueError: something else is in the file.
    """
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(lines) % 5:
        raise InvalidValueError(f"{path}: expected five lines a pose, got {len(lines)} lines")
    return [
        _matrix(" ".join(lines[at + 1 : at + 5]).split(), f"{path}, pose {at // 5}") for at in range(0, len(lines), 5)
    ]


def _matrix(words: Sequence[str], where: str) -> FloatArray:
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError as error:
        raise InvalidValueError(f"{where}: {error}") from error
    if values.size != 16:
        raise InvalidValueError(f"{where}: expected 16 numbers, got {values.size}")
    return values.reshape(4, 4)


@dataclass(frozen=True, eq=False)
class StampedPoses:
    """A trajectory: stamps_s (n,) in order, positions (n, 3), quaternions (n, 4) as x, y, z, w."""

    stamps_s: FloatArray
    positions: FloatArray
    quaternions: FloatArray

    @classmethod
    def of_tum(cls, path: Path) -> StampedPoses:
        """Read `stamp tx ty tz qx qy qz qw` lines, # comments.

        Raises:
            InvalidValueError: something else is in the file.
        """
        try:
            rows = np.loadtxt(path, ndmin=2)
        except (OSError, ValueError) as error:
            raise InvalidValueError(f"{path}: expected lines of a stamp and seven numbers: {error}") from error
        if rows.shape[0] == 0 or rows.shape[1] != 8:
            raise InvalidValueError(f"{path}: expected lines of a stamp and seven numbers, got {rows.shape}")
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        return cls(rows[:, 0], rows[:, 1:4], rows[:, 4:8])

    def matrix_at(self, stamp_s: float, longest_gap_s: float, name: str) -> FloatArray:
        """Return map_T_camera (4, 4) at a stamp, between the two samples around it.

        Raises:
            InputSkippedError: the samples are further apart than `longest_gap_s` ("no_pose").
        """
        after = bisect.bisect_left(self.stamps_s.tolist(), stamp_s)
        ends = [at for at in (after - 1, after) if 0 <= at < len(self.stamps_s)]
        near = min(ends, key=lambda at: abs(self.stamps_s[at] - stamp_s))
        matrix = np.eye(4)
        if len(ends) == 2 and self.stamps_s[after] - self.stamps_s[after - 1] <= longest_gap_s:
            span = self.stamps_s[ends]
            share = (stamp_s - span[0]) / max(span[1] - span[0], 1e-9)
            if np.isfinite(self.positions[ends]).all() and np.isfinite(self.quaternions[ends]).all():
                turn = Slerp([0.0, 1.0], Rotation.from_quat(self.quaternions[ends]))
                matrix[:3, :3] = turn(share).as_matrix()
                matrix[:3, 3] = (1.0 - share) * self.positions[ends[0]] + share * self.positions[ends[1]]
                return matrix
        elif abs(self.stamps_s[near] - stamp_s) > 0.5 * longest_gap_s:
            raise InputSkippedError("no_pose", f"{name}: no pose within {0.5 * longest_gap_s:.2f} s")
        if not np.isfinite([*self.positions[near], *self.quaternions[near]]).all():
            matrix[:] = np.nan
            return matrix
        matrix[:3, :3] = Rotation.from_quat(self.quaternions[near]).as_matrix()
        matrix[:3, 3] = self.positions[near]
        return matrix
