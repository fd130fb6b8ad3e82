"""A folder of one camera's frames, whatever its layout: files, poses, cameras; read frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.app.ingest.recording import RgbdImage
from memory_node.app.ingest.skipped import Skipped
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import FloatArray, Intrinsics, Pose
from memory_node.perception.camera_model import Camera
from memory_node.perception.coded_image import decode_coded_color, decode_coded_depth
from memory_node.perception.registration import color_in_depth_view
from memory_node.scene_graph.free_space import OccupancyMap

# Structured-light cameras write this where they measured nothing.
_NO_RETURN = 65535
_LARGEST_SHEAR = 1e-2


@dataclass(frozen=True)
class FrameFiles:
    """One moment. matrix: returns map_T_camera (4, 4), of which values may be NaN or infinite: the pose was lost."""

    name: str
    stamp_ns: int
    color: Path
    depth: Path
    matrix: Callable[[], FloatArray]


@dataclass(frozen=True)
class SequenceFiles:
    """A recording's files.

    layout: its name. units_per_m: of the depth images. camera: of the depth images. color_camera: of the colour images
    where they differ from the depth images in size or in view, None where both show the same pixels.
    """

    layout: str
    frames: tuple[FrameFiles, ...]
    units_per_m: float
    camera: Camera
    color_camera: Camera | None = None


class FolderSequence:
    """A Recording of one folder; its frames are one scene."""

    def __init__(self, files: SequenceFiles, stride: int = 1) -> None:
        self.layout = files.layout
        self._files = files
        self._frames = files.frames[::stride]
        self.skipped = Skipped()

    def __len__(self) -> int:
        return len(self._frames)

    def images(self) -> Iterator[RgbdImage]:
        """Yield the frames that can be used, in the order of time."""
        for frame in self._frames:
            try:
                yield self._image(frame)
            except InputSkippedError as error:
                self.skipped.note(error, frame.name)

    def rest(self) -> tuple[()]:
        """Return nothing: a folder of frames holds nothing else."""
        return ()

    def grid(self) -> OccupancyMap | None:
        """Return None: a folder of frames has no map."""
        return None

    def _image(self, frame: FrameFiles) -> RgbdImage:
        files = self._files
        pose = pose_of_matrix(frame.matrix(), frame.name)
        raw = decode_coded_depth(_bytes(frame.depth), frame.depth.name)
        depth_m = raw.astype(np.float32) / np.float32(files.units_per_m)
        depth_m[(raw == 0) | (raw == _NO_RETURN)] = np.nan
        color = decode_coded_color(_bytes(frame.color), frame.color.name)
        _check_size(files.camera, depth_m.shape, frame.depth.name)
        depth_m, intrinsics = files.camera.rectified_depth(depth_m)
        color = self._color(color, depth_m, intrinsics, frame)
        return RgbdImage(frame.name, "", frame.stamp_ns, color, depth_m, intrinsics, pose)

    def _color(
        self, color: NDArray[np.uint8], depth_m: NDArray[np.float32], intrinsics: Intrinsics, frame: FrameFiles
    ) -> NDArray[np.uint8]:
        camera = self._files.color_camera
        if camera is None:
            if color.shape[:2] != depth_m.shape:
                raise InputSkippedError(
                    "image_size", f"{frame.color.name} is {_size(color)}, {frame.depth.name} is {_size(depth_m)}"
                )
            return self._files.camera.rectified_color(color)
        _check_size(camera, color.shape[:2], frame.color.name)
        return color_in_depth_view(color, camera, depth_m, intrinsics)


def pose_of_matrix(matrix: FloatArray, name: str) -> Pose:
    """Return the pose of a matrix (4, 4).

    Raises:
        InputSkippedError: the recorder had lost it ("pose_lost"), or it is no rigid transform ("pose_invalid").
    """
    if not np.isfinite(matrix).all():
        raise InputSkippedError("pose_lost", f"{name}: its pose is not finite, tracking was lost")
    rotation = matrix[:3, :3]
    skew = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    if skew > _LARGEST_SHEAR or np.linalg.det(rotation) < 0.0:
        raise InputSkippedError("pose_invalid", f"{name}: its pose is no rotation and translation")
    return Pose.from_matrix(matrix)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputSkippedError("unreadable_frame", f"{path.name}: {error.strerror}") from error


def _check_size(camera: Camera, shape: tuple[int, ...], name: str) -> None:
    if camera.width and (camera.height, camera.width) != shape[:2]:
        raise InputSkippedError(
            "image_size", f"{name} is {shape[1]}x{shape[0]}, its camera {camera.width}x{camera.height}"
        )


def _size(image: NDArray[np.generic]) -> str:
    return f"{image.shape[1]}x{image.shape[0]}"
