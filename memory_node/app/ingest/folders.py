"""Folders of recorded frames: the layouts that RGB-D recordings are published in, and single frames, the last tried."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.app.ingest.pose_files import (
    StampedPoses,
    camera_of_json,
    camera_of_matrix_file,
    matrices_by_line,
    matrices_of_log,
    matrix_of_file,
)
from memory_node.app.ingest.recording import Recording, RgbdImage
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import FloatArray, Intrinsics, Pose
from memory_node.perception.camera_model import Camera, color_in_depth_view
from memory_node.perception.image_decoding import decode_coded_color, decode_coded_depth

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


class FolderSequence(Recording):
    """A Recording of one folder; its frames are one scene."""

    def __init__(self, files: SequenceFiles, stride: int = 1) -> None:
        super().__init__()
        self.layout = files.layout
        self._files = files
        self._frames = files.frames[::stride]

    def __len__(self) -> int:
        return len(self._frames)

    def _images(self) -> Iterator[RgbdImage]:
        for frame in self._frames:
            try:
                yield self._image(frame)
            except InputSkippedError as error:
                self.skipped.note(error, frame.name)

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


_UNITS_PER_M = 5000.0
_SLOP_S = 0.02
_LONGEST_GAP_S = 0.1
# The three cameras as the data set's authors calibrated them, by the name that its folders carry; else their advice.
_CAMERAS = {
    "freiburg1": Camera(517.3, 516.5, 318.6, 255.3, 640, 480, (0.2624, -0.9531, -0.0054, 0.0026, 1.1633)),
    "freiburg2": Camera(520.9, 521.0, 325.1, 249.7, 640, 480, (0.2312, -0.7849, -0.0033, -0.0001, 0.9172)),
    "freiburg3": Camera(535.4, 539.2, 320.1, 247.6, 640, 480),
}
_ADVISED = Camera(525.0, 525.0, 319.5, 239.5, 640, 480)


def tum(folder: Path) -> SequenceFiles | None:
    """Read the layout; a camera other than the three that its authors calibrated is described in intrinsics.json.

    Raises:
        InvalidValueError: a list that is none, or no pair of images.
    """
    lists = [folder / name for name in ("rgb.txt", "depth.txt", "groundtruth.txt")]
    if not all(path.is_file() for path in lists):
        return None
    colors, depths = (_listed(path) for path in lists[:2])
    poses = StampedPoses.of_tum(lists[2])
    stamps = [stamp for stamp, _ in depths]
    frames = []
    for stamp, color in colors:
        at = bisect.bisect_left(stamps, stamp)
        near = min((i for i in (at - 1, at) if 0 <= i < len(stamps)), key=lambda i: abs(stamps[i] - stamp))
        if abs(stamps[near] - stamp) <= _SLOP_S:
            name = f"{stamp:.6f}"
            pose = partial(poses.matrix_at, stamps[near], _LONGEST_GAP_S, name)
            frames.append(FrameFiles(name, round(stamp * 1e9), folder / color, folder / depths[near][1], pose))
    if not frames:
        raise InvalidValueError(f"{folder}: no colour and depth image within {_SLOP_S} s of each other")
    camera, units_per_m = _camera(folder)
    return SequenceFiles("TUM RGB-D", tuple(frames), units_per_m, camera)


def _camera(folder: Path) -> tuple[Camera, float]:
    told = folder / "intrinsics.json"
    if told.is_file():
        camera, units_per_m = camera_of_json(told)
        return camera, units_per_m or _UNITS_PER_M
    named = (camera for name, camera in _CAMERAS.items() if name in folder.resolve().name)
    return next(named, _ADVISED), _UNITS_PER_M


def _listed(path: Path) -> list[tuple[float, str]]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            stamp, name = words
            found.append((float(stamp), name))
        except ValueError as error:
            raise InvalidValueError(f"{path}, line {number}: expected a stamp and a file, got {line[:80]!r}") from error
    if not found:
        raise InvalidValueError(f"{path}: lists no image")
    return sorted(found)


IMAGES = (".jpg", ".jpeg", ".png")


def numbered(paths: Iterable[Path]) -> dict[int, Path]:
    """Return files by the last number in their names (frame-000012.color.jpg: 12), in its order."""
    found = {}
    for path in paths:
        numbers = re.findall(r"\d+", path.name.split(".")[0])
        if numbers:
            found[int(numbers[-1])] = path
    return dict(sorted(found.items()))


def images_in(folder: Path, start: str = "") -> dict[int, Path]:
    """Return the images of a folder whose names begin with `start`, by number."""
    if not folder.is_dir():
        return {}
    return numbered(p for p in folder.iterdir() if p.suffix.lower() in IMAGES and p.name.startswith(start))


_FRAME_NS = 33_333_333  # where a layout has no stamps, its frames are those of a 30 Hz camera
# The depth camera of a Kinect v1 as 7-Scenes publishes it.
_KINECT = Camera(585.0, 585.0, 320.0, 240.0, 640, 480)
# Replica as rendered for NICE-SLAM, which all later users of those renderings share.
_REPLICA = Camera(600.0, 600.0, 599.5, 339.5, 1200, 680)
_REPLICA_UNITS_PER_M = 6553.5
_PRIMESENSE = Camera(525.0, 525.0, 319.5, 239.5, 640, 480)
_MM = 1000.0


def seven_scenes(folder: Path) -> SequenceFiles | None:
    """Read 7-Scenes and 3DMatch: frame-N.color|depth|pose, here or in the folders seq-NN under it."""
    parts = [folder, *sorted(part for part in folder.glob("seq-*") if part.is_dir())]
    frames: list[FrameFiles] = []
    for part in parts:
        colors = numbered(part.glob("frame-*.color.*"))
        either = numbered(part.glob("frame-*.pose.txt")) | numbered(part.glob("frame-*.depth.png"))
        for number, found in sorted(either.items()):
            stem = found.name.split(".")[0]
            color = colors.get(number, part / f"{stem}.color.png")
            depth, pose = part / f"{stem}.depth.png", part / f"{stem}.pose.txt"
            stamp_ns = (number + 1) * _FRAME_NS
            if frames:  # sequences of one place come one after the other
                stamp_ns = max(stamp_ns, frames[-1].stamp_ns + _FRAME_NS)
            name = stem if part == folder else f"{part.name}_{stem}"
            frames.append(FrameFiles(name, stamp_ns, color, depth, partial(matrix_of_file, pose)))
    if not frames:
        return None
    matrix = _first(folder, "camera-intrinsics.txt", "../camera-intrinsics.txt")
    camera = camera_of_matrix_file(matrix) if matrix else _KINECT
    return SequenceFiles("7-Scenes / 3DMatch", tuple(frames), _MM, camera)


def scannet(folder: Path) -> SequenceFiles | None:
    """Read ScanNet's exported form: color/N.jpg, depth/N.png, pose/N.txt, intrinsic/intrinsic_color|depth.txt."""
    colors, depths = images_in(folder / "color"), images_in(folder / "depth")
    poses = numbered((folder / "pose").glob("*.txt")) if (folder / "pose").is_dir() else {}
    if not (colors and depths and poses):
        return None
    own = _first(folder, "intrinsic/intrinsic_depth.txt", "intrinsics/intrinsic_depth.txt", "intrinsic_depth.txt")
    of_color = _first(folder, "intrinsic/intrinsic_color.txt", "intrinsics/intrinsic_color.txt", "intrinsic_color.txt")
    if own is None:
        raise InvalidValueError(f"{folder}: looks like ScanNet, but has no intrinsic/intrinsic_depth.txt")
    frames = []
    for n, depth in depths.items():
        color = colors.get(n, folder / "color" / f"{n}.jpg")
        pose = partial(matrix_of_file, poses.get(n, folder / "pose" / f"{n}.txt"))
        frames.append(FrameFiles(f"{n:06d}", (n + 1) * _FRAME_NS, color, depth, pose))
    color_camera = camera_of_matrix_file(of_color) if of_color else None
    return SequenceFiles("ScanNet", tuple(frames), _MM, camera_of_matrix_file(own), color_camera)


def replica(folder: Path) -> SequenceFiles | None:
    """Read Replica as NICE-SLAM and ConceptGraphs have it: results/frameN.jpg, results/depthN.png, traj.txt."""
    trajectory = folder / "traj.txt"
    colors, depths = images_in(folder / "results", "frame"), images_in(folder / "results", "depth")
    if not (trajectory.is_file() and colors and depths):
        return None
    told = _first(folder, "cam_params.json", "../cam_params.json")
    camera, units_per_m = camera_of_json(told) if told else (_REPLICA, _REPLICA_UNITS_PER_M)
    matrices = matrices_by_line(trajectory)
    if len(matrices) <= max(depths):
        raise InvalidValueError(f"{trajectory}: {len(matrices)} poses for frames up to number {max(depths)}")
    frames = tuple(_frame(n, colors[n], depths[n], matrices[n]) for n in sorted(colors.keys() & depths.keys()))
    return SequenceFiles("Replica", frames, units_per_m or _REPLICA_UNITS_PER_M, camera)


def open3d(folder: Path) -> SequenceFiles | None:
    """Read Open3D's reconstruction form: color|image|rgb, depth, a .log trajectory and a camera's JSON."""
    colors = next((found for name in ("color", "image", "rgb") if (found := images_in(folder / name))), {})
    depths = images_in(folder / "depth")
    logs = [path for pattern in ("*.log", "scene/*.log") for path in sorted(folder.glob(pattern))]
    if not (colors and depths and logs):
        return None
    trajectory = next((path for path in logs if "trajectory" in path.name), logs[0])
    told = _first(folder, "camera_intrinsic.json", "intrinsic.json", "camera.json", "camera_primesense.json")
    camera, units_per_m = camera_of_json(told) if told else (_PRIMESENSE, None)
    matrices = matrices_of_log(trajectory)
    listed = list(zip(sorted(colors), sorted(depths)))
    if len(colors) != len(depths) or len(matrices) != len(listed):
        raise InvalidValueError(
            f"{folder}: {len(colors)} colour images, {len(depths)} depth images and {len(matrices)} poses in "
            f"{trajectory.name}; expected as many of each"
        )
    frames = tuple(_frame(i, colors[c], depths[d], matrices[i]) for i, (c, d) in enumerate(listed))
    return SequenceFiles("Open3D", frames, units_per_m or _MM, camera)


def _frame(number: int, color: Path, depth: Path, matrix: FloatArray) -> FrameFiles:
    return FrameFiles(f"{number:06d}", (number + 1) * _FRAME_NS, color, depth, lambda: matrix)


def _first(folder: Path, *names: str) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


_COLOR, _DEPTH = "_color.png", "_depth.png"


class SingleFrames(Recording):
    """Reads the folder.

    Raises:
        InvalidValueError: it has no frames or no readable intrinsics.json.
    """

    def __init__(self, folder: Path, stride: int = 1) -> None:
        super().__init__()
        self._folder = folder
        self._names = sorted(path.name.removesuffix(_DEPTH) for path in folder.glob(f"*{_DEPTH}"))[::stride]
        if not self._names:
            raise InvalidValueError(f"{folder}: expected NAME{_COLOR} and NAME{_DEPTH} files, found none")
        try:
            self._cameras: dict[str, Any] = json.loads((folder / "intrinsics.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidValueError(f"{folder}: no readable intrinsics.json: {error}") from error

    def __len__(self) -> int:
        return len(self._names)

    def _images(self) -> Iterator[RgbdImage]:
        # By name, a second apart, as they carry no stamps.
        for index, name in enumerate(self._names):
            try:
                yield self._image(index, name)
            except InputSkippedError as error:
                self.skipped.note(error, name)

    def _image(self, index: int, name: str) -> RgbdImage:
        color_file, depth_file = self._folder / (name + _COLOR), self._folder / (name + _DEPTH)
        if not color_file.is_file():
            raise InputSkippedError("unreadable_frame", f"{color_file.name}: no such file")
        color = decode_coded_color(color_file.read_bytes(), color_file.name)
        depth = decode_coded_depth(depth_file.read_bytes(), depth_file.name)
        if color.shape[:2] != depth.shape:
            raise InputSkippedError(
                "image_size",
                f"{color_file.name} is {color.shape[:2]}, {depth_file.name} is {depth.shape} (rows, columns)",
            )
        # One camera for all frames, or one by name.
        camera = self._cameras.get(name, self._cameras)
        try:
            values = {key: float(camera[key]) for key in ("fx", "fy", "cx", "cy")}
        except (KeyError, TypeError, ValueError) as error:
            raise InputSkippedError("no_intrinsics", f"{name}: expected fx, fy, cx, cy in intrinsics.json") from error
        intrinsics = Intrinsics(**values, width=depth.shape[1], height=depth.shape[0])
        depth_m = depth.astype(np.float32) * np.float32(1e-3)
        return RgbdImage(name, name, (index + 1) * 1_000_000_000, color, depth_m, intrinsics, None)


_LAYOUTS = (seven_scenes, tum, scannet, replica, open3d)
_KNOWN = "7-Scenes, 3DMatch, TUM RGB-D, ScanNet, Replica, Open3D, or single frames NAME_color.png and NAME_depth.png"


def open_folder(folder: Path, stride: int = 1) -> Recording:
    """Return the recording that a folder holds; stride: take every so many frames.

    Raises:
        InvalidValueError: no known layout, or one of which something is missing.
    """
    for layout in _LAYOUTS:
        files = layout(folder)
        if files is not None:
            return FolderSequence(files, stride)
    if any(folder.glob("*_depth.png")):
        return SingleFrames(folder, stride)
    raise InvalidValueError(
        f"{folder}: expected a rosbag2 (metadata.yaml with .mcap or .db3) or {_KNOWN} (docs/perception.md)"
    )
