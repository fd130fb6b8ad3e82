"""Which way is up in a recording whose world frame is not level, and the recording in a level one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from memory_node.app.ingest.recording import Recording, RgbdImage
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.perception.segmentation import thinned
from memory_node.perception.surface import large_planes, surface_of

AUTO = "auto"
# Views of a recording from which the vertical is found.
VIEWS = 40
_MIN_PLANE_M2 = 0.08
# People and robots hold cameras so that the image's upper edge is up, within this angle of the mean over a recording.
_TILT_COSINE = 0.5
_ONE_DIRECTION = 0.985
# A recorder whose own up is as near as this to the planes' knows it from an IMU or a map: it is followed.
_LEVEL_RAD = 0.035
_FOCAL_PX = 262.0
_FARTHEST_M = 4.0


def up_from_text(text: str) -> FloatArray | None:
    """Return the direction (3,) that `x,y,z` names, of unit length; None for "auto".

    Raises:
        InvalidValueError: it is neither.
    """
    if text == AUTO:
        return None
    try:
        up = np.array([float(word) for word in text.split(",")])
    except ValueError:
        up = np.zeros(0)
    length = float(np.linalg.norm(up)) if up.shape == (3,) else 0.0
    if not np.isfinite(length) or length < 1e-6:
        raise InvalidValueError(f"--up: expected auto or three numbers such as 0,0,1, got {text!r}")
    return up / length


def find_up(recording: Recording) -> FloatArray:
    """Return the direction (3,) in a recording's world that its support planes (floors, tables) face, of unit length.

    All images are looked at; VIEWS of them suffice.

    Raises:
        InvalidValueError: no image has a pose and a plane that may be level.
    """
    normals, areas, held = [], [], []
    for image in recording.images():
        if image.map_T_camera is None:
            continue
        rotation = image.map_T_camera.matrix[:3, :3]
        held.append(-rotation[:, 1])
        for normal, area in _planes(image):
            normals.append(rotation @ normal)
            areas.append(area)
    if not normals:
        raise InvalidValueError("no plane in view tells which way is up; name it with --up x,y,z")
    return _most_common(np.array(normals), np.array(areas), np.mean(held, axis=0))


def level_world(up: FloatArray) -> Pose:
    """Return map_T_world: the smallest turn that brings `up` (3,) to z; none where it is z already."""
    angle = float(np.arccos(np.clip(up[2], -1.0, 1.0)))
    if angle < _LEVEL_RAD:
        return Pose()
    axis = np.cross(up, [0.0, 0.0, 1.0])
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    return Pose(np.zeros(3), Rotation.from_rotvec(angle * axis).as_quat())


def _planes(image: RgbdImage) -> Iterator[tuple[FloatArray, float]]:
    """Yield normal in the camera's frame and visible area of an image's large planes."""
    depth, camera, _ = thinned(image.depth_m, image.intrinsics, _FOCAL_PX, _FARTHEST_M)
    surface = surface_of(depth, camera)
    for plane in large_planes(surface, _MIN_PLANE_M2, camera.fx):
        near = surface.valid & (np.abs(plane.height(surface.points)) < 0.02)
        z = surface.points[..., 2][near]
        yield plane.normal, float((z**2).sum() / camera.fx**2)


def _most_common(normals: FloatArray, areas: FloatArray, held: FloatArray) -> FloatArray:
    """Return the direction that the most area faces, of those near `held` (3,), the mean up of the camera."""
    likely = normals @ (held / np.linalg.norm(held)) > _TILT_COSINE
    if not likely.any():
        raise InvalidValueError("no plane in view faces the camera's up side; name it with --up x,y,z")
    normals, areas = normals[likely], areas[likely]
    support = (normals @ normals.T > _ONE_DIRECTION) @ areas
    up = normals[int(np.argmax(support))]
    for _ in range(3):
        one = normals @ up > _ONE_DIRECTION
        up = (normals[one] * areas[one, None]).sum(axis=0)
        up /= np.linalg.norm(up)
    return np.asarray(up)
