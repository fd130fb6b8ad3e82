"""`bench sequence`: whether a recording's even and odd frames, built apart, become the same things."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks.rows import emit
from memory_node.app.ingest.command import add_detector_arguments, open_detector
from memory_node.app.ingest.folders import open_folder
from memory_node.app.ingest.ingestion import Ingestion
from memory_node.app.ingest.recording import Recording, RgbdImage
from memory_node.app.ingest.upright import AUTO, VIEWS, find_up, level_world, up_from_text
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.scene import SceneObject
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.perception.detection import Detector

_BELIEVED = 0.5
# Share of the smaller box in the larger one from which one thing lies in the other.
_CONTAINED = 0.5
Boxes = NDArray[np.float64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--frames", type=Path, required=True, metavar="DIR", help="a folder of RGB-D frames with poses")
    parser.add_argument("--up", default=AUTO, help="direction that is up in the poses' frame: auto, or x,y,z")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="take only the first N frames")
    add_detector_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Build two memories and compare them; one row."""
    recording = open_folder(args.frames)
    up = up_from_text(args.up)
    if up is None:
        up = find_up(open_folder(args.frames, max(1, len(recording) // VIEWS)))
    recording.map_T_world = level_world(up)
    builds = [_build(recording, half, args) for half in (0, 1)]
    if not all(build.frames for build in builds):
        raise InvalidValueError(f"{args.frames}: no two frames that can be used: {dict(recording.skipped)}")
    emit([row(*builds)], args.json)
    return 0


@dataclass(frozen=True, eq=False)
class Build:
    """A memory of every other frame: the objects that it believes in, and how long each frame took."""

    frames: int
    objects: tuple[SceneObject, ...]
    times_ms: tuple[float, ...]


def row(even: Build, odd: Build) -> dict[str, Any]:
    """Return the figures of two builds.

    contained_pairs: pairs of one build's boxes of which one holds most of the other, over the number of objects.
    seen_once: objects of either build that only one frame showed.
    """
    one, other = (aligned_boxes(build.objects) for build in (even, odd))
    objects = max(1, len(one) + len(other))
    times = even.times_ms + odd.times_ms
    return {
        "frames": even.frames + odd.frames,
        "objects_even": len(one),
        "objects_odd": len(other),
        "repeatability_f1_at_30": agreement_f1(one, other, 0.3),
        "repeatability_f1_at_50": agreement_f1(one, other, 0.5),
        "contained_pairs": (contained_pairs(one) + contained_pairs(other)) / objects,
        "seen_once": sum(found.times_seen <= 1 for build in (even, odd) for found in build.objects),
        "ms_p50": float(np.percentile(times, 50)),
        "ms_p99": float(np.percentile(times, 99)),
    }


def aligned_boxes(objects: tuple[SceneObject, ...]) -> Boxes:
    """Return the axis-aligned boxes (n, 2, 3) around objects: lower and upper corner."""
    corners = [found.box.corners() for found in objects]
    return np.array([[c.min(axis=0), c.max(axis=0)] for c in corners]).reshape(-1, 2, 3)


def agreement_f1(one: Boxes, other: Boxes, least_iou: float) -> float:
    """Return the F1 of matching boxes (n, 2, 3) and (m, 2, 3) one to one by an IoU of at least `least_iou`."""
    shared, volume_one, volume_other = _overlaps(one, other)
    iou = shared / np.maximum(volume_one[:, None] + volume_other[None] - shared, 1e-12)
    good = iou >= least_iou
    rows, columns = linear_sum_assignment(-(iou * good))
    return 2.0 * float(good[rows, columns].sum()) / max(1, len(one) + len(other))


def contained_pairs(boxes: Boxes) -> int:
    """Return how many pairs of boxes (n, 2, 3) lie in each other."""
    shared, volume, _ = _overlaps(boxes, boxes)
    inside = shared / np.maximum(np.minimum(volume[:, None], volume[None]), 1e-12) >= _CONTAINED
    return int(np.triu(inside, 1).sum())


def _overlaps(one: Boxes, other: Boxes) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    low = np.maximum(one[:, None, 0], other[None, :, 0])
    high = np.minimum(one[:, None, 1], other[None, :, 1])
    volume, other_volume = ((boxes[:, 1] - boxes[:, 0]).prod(axis=1) for boxes in (one, other))
    return np.clip(high - low, 0.0, None).prod(axis=2), volume, other_volume


def _build(recording: Recording, half: int, args: argparse.Namespace) -> Build:
    detector: Detector | None = open_detector(args)
    ingestion = Ingestion(MemoryParameters(), detector)
    times_ms: list[float] = []
    with progress_bar() as progress:
        images = progress.track(_limited(recording, args.limit), len(recording), description=("even", "odd")[half])
        for index, image in enumerate(images):
            if index % 2 != half:
                continue
            start = time.perf_counter()
            try:
                ingestion.take(image)
            except InputSkippedError as error:
                recording.skipped.note(error, image.name)
                continue
            times_ms.append((time.perf_counter() - start) * 1e3)
    objects = ingestion.finish(()).snapshot().objects
    return Build(len(times_ms), tuple(o for o in objects if o.existence > _BELIEVED), tuple(times_ms))


def _limited(recording: Recording, limit: int) -> Iterator[RgbdImage]:
    for index, image in enumerate(recording.images()):
        if limit and index >= limit:
            return
        yield image
