"""The layouts of folders that RGB-D recordings are published in; each function reads one, None where it is another."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from memory_node.app.ingest.folders.camera_file import camera_of_json, camera_of_matrix_file
from memory_node.app.ingest.folders.pose_files import StampedPoses, matrices_by_line, matrices_of_log, matrix_of_file
from memory_node.app.ingest.folders.sequence import FrameFiles, SequenceFiles
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray
from memory_node.perception.camera_model import Camera

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
