"""Cameras as recordings' files describe them: matrices, JSON of Open3D or Replica."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from memory_node.domain.errors import InvalidValueError
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
