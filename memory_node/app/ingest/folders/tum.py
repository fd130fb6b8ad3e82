"""TUM RGB-D (Sturm et al. 2012): rgb.txt, depth.txt and groundtruth.txt list files and poses by their stamps."""

from __future__ import annotations

import bisect
from functools import partial
from pathlib import Path

from memory_node.app.ingest.folders.camera_file import camera_of_json
from memory_node.app.ingest.folders.pose_files import StampedPoses
from memory_node.app.ingest.folders.sequence import FrameFiles, SequenceFiles
from memory_node.domain.errors import InvalidValueError
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
