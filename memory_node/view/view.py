"""The protocol of viewers, the ones that a command line names, and how frames are shown beside the work on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from memory_node.domain.geometry import FloatArray, Intrinsics, OrientedBox, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.process import Newest, WorkerThread
from memory_node.domain.scene import SceneObject

_JPEG_QUALITY = 80
_STEP_PX = 4
_FARTHEST_M = 5.0


class View(Protocol):
    """Shows one frame after the other."""

    def show(self, color: NDArray[np.uint8], frame: Frame, objects: Sequence[SceneObject]) -> None:
        """Show an RGB image (h, w, 3), the frame with what was seen in it, and what is remembered now."""

    def show_objects(self, stamp_ns: int, objects: Sequence[SceneObject]) -> None:
        """Show what was remembered at a stamp."""

    def close(self) -> None:
        """Finish the file."""


# Standard deviations of the ellipsoid that is shown.
_SIGMAS = 2.0


def facts_of(found: SceneObject) -> dict[str, str | float]:
    """Return what viewers tell of an object beside its box: id, name, class, how sure each is, place, states.

    sigma_m: standard deviation of the centre along the worst axis.
    """
    return {
        "id": found.id,
        "name": found.name,
        "class": found.class_name,
        "class_probability": round(found.class_probability, 3),
        "existence": round(found.existence, 3),
        "sigma_m": round(float(np.sqrt(max(np.linalg.eigvalsh(found.covariance)[-1], 0.0))), 4),
        "support_id": found.support_id,
        "area_id": found.area_id,
        "states": ", ".join(f"{one.state} {one.probability:.2f}" for one in found.states),
        "times_seen": found.times_seen,
    }


def uncertainty_of(found: SceneObject) -> tuple[FloatArray, FloatArray]:
    """Return the half axes (3,) in metres of the ellipsoid of two standard deviations around an object's centre, and
    how it is turned, a quaternion (x, y, z, w)."""
    variances, axes = np.linalg.eigh(found.covariance)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    return _SIGMAS * np.sqrt(np.maximum(variances, 0.0)), Rotation.from_matrix(axes).as_quat()


def open_views(rrd: Path | None, mcap: Path | None) -> list[View]:
    """Return the viewers whose files are named.

    Raises:
        ResourceMissingError: the extra `view` is not installed.
    """
    views: list[View] = []
    if rrd is not None:
        from memory_node.view.rerun_stream import RerunStream

        views.append(RerunStream.into_file(rrd))
    if mcap is not None:
        from memory_node.view.mcap_file import McapFile

        views.append(McapFile(mcap))
    return views


def serve_view(port: int) -> View:
    """Return a viewer's stream that Rerun's viewers fetch from a port of this machine.

    Raises:
        PortTakenError: the port is taken.
        ResourceMissingError: the extra `view` is not installed.
    """
    from memory_node.view.rerun_stream import RerunStream

    return RerunStream.served(port)


def jpeg(color: NDArray[np.uint8]) -> bytes:
    """Return an RGB image (h, w, 3) as JPEG."""
    _, coded = cv2.imencode(".jpg", color[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return bytes(coded.tobytes())


def cloud(color: NDArray[np.uint8], frame: Frame) -> tuple[FloatArray, NDArray[np.uint8]]:
    """Return some points (n, 3) in map of a frame with depth and their colours (n, 3) in its image (h, w, 3)."""
    if frame.depth_m is None or frame.intrinsics is None:
        return np.zeros((0, 3)), np.zeros((0, 3), np.uint8)
    depth = frame.depth_m[::_STEP_PX, ::_STEP_PX]
    with np.errstate(invalid="ignore"):
        rows, columns = np.nonzero((depth > 0.1) & (depth < _FARTHEST_M))
    z, i = depth[rows, columns], frame.intrinsics
    x, y = (columns * _STEP_PX - i.cx) * z / i.fx, (rows * _STEP_PX - i.cy) * z / i.fy
    return frame.map_T_camera.apply(np.stack([x, y, z], axis=1)), color[rows * _STEP_PX, columns * _STEP_PX]


def rectangle_of(
    box: OrientedBox, intrinsics: Intrinsics, map_T_camera: Pose
) -> tuple[float, float, float, float] | None:
    """Return left, top, right, bottom in pixels of a box of the map in an image, None where it reaches behind the
    camera."""
    local = map_T_camera.inverse().apply(box.corners())
    if (local[:, 2] < 0.05).any():
        return None
    i = intrinsics
    columns, rows = local[:, 0] / local[:, 2] * i.fx + i.cx, local[:, 1] / local[:, 2] * i.fy + i.cy
    left, right = np.clip([columns.min(), columns.max()], 0.0, i.width)
    top, bottom = np.clip([rows.min(), rows.max()], 0.0, i.height)
    return (float(left), float(top), float(right), float(bottom)) if right > left and bottom > top else None


_WAIT_S, _STOP_S = 0.5, 1.0


class ShownFrames:
    """Shows the newest frame in a thread of its own; frames that come while it is busy are skipped, and counted.

    Args:
        view: shows them; it is closed with this.
        objects: returns what is remembered now.
    """

    def __init__(self, view: View, objects: Callable[[], Sequence[SceneObject]]) -> None:
        self._view = view
        self._objects = objects
        self._newest = Newest[tuple[NDArray[np.uint8], Frame]]()
        self._shown = 0
        self._thread = WorkerThread("view", self._work_off)
        self._thread.start()

    def show(self, color: NDArray[np.uint8], frame: Frame) -> None:
        """Show an RGB image (h, w, 3) with its frame, unless a newer one comes first."""
        self._newest.put((color, frame))

    def figures(self) -> dict[str, int]:
        """Return how many frames were shown and how many skipped."""
        return {"shown.frames": self._shown, "skipped.busy": self._newest.skipped}

    def close(self) -> None:
        """Finish the frame that is being shown, and show no more."""
        self._newest.end()
        self._thread.join(_STOP_S)
        self._view.close()

    def _work_off(self) -> None:
        while not self._newest.ended:
            newest = self._newest.take(_WAIT_S)
            if newest is not None:
                color, frame = newest
                self._view.show(color, frame, self._objects())
                self._shown += 1
