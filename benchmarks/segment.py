"""`bench segment`: class-agnostic geometric segmentation of real RGB-D frames against their labels."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks.rows import emit
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import SegmentationConfig
from memory_node.perception.segmentation import GeometricSegmenter

# In the labels 20 to 29 are the visible parts of the first object, 30 to 39 of the second, and so on; under 10 are
# surfaces.
_FIRST_OBJECT = 20
_PARTS_PER_OBJECT = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--frames", type=Path, required=True, metavar="DIR", help="NAME_depth.png, NAME_label.png, intrinsics.json"
    )


def run(args: argparse.Namespace) -> int:
    """Segment every frame of the folder; one row a frame and one for all."""
    segmenter = GeometricSegmenter(SegmentationConfig())
    names = sorted(path.name[: -len("_depth.png")] for path in args.frames.glob("*_depth.png"))
    if not names:
        raise InvalidValueError(f"no *_depth.png in {args.frames}")
    cameras = json.loads((args.frames / "intrinsics.json").read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    with progress_bar() as progress:
        for name in progress.track(names, description="segmenting"):
            depth_m, truth, camera = _load(args.frames, name, cameras)
            if not rows:
                segmenter.segment(depth_m, camera)  # the first call pays for imports and caches
            start = time.perf_counter()
            found = segmenter.segment(depth_m, camera)
            ms = (time.perf_counter() - start) * 1e3
            rows.append({"frame": name, **score(truth, found), "ms": ms})
    emit([*rows, _mean_row(rows)], args.json)
    return 0


def score(truth: NDArray[np.integer], found: NDArray[np.integer]) -> dict[str, Any]:
    """Compare instance images (h, w), 0 none: best IoU per true object, and F1 of one-to-one matches with IoU of at
    least 0.5.

    Pixels without a true label (no depth return) count for neither side.
    """
    true_ids, found_ids = _ids(truth), _ids(found)
    iou = np.zeros((len(true_ids), len(found_ids)))
    for i, true_id in enumerate(true_ids):
        for j, found_id in enumerate(found_ids):
            both = np.count_nonzero((truth == true_id) & (found == found_id))
            either = np.count_nonzero((truth == true_id) | ((found == found_id) & (truth != 0)))
            iou[i, j] = both / either
    matches = 0
    if iou.size:
        matched = linear_sum_assignment(-(iou * (iou >= 0.5)))
        matches = int((iou[matched] >= 0.5).sum())
    total = len(true_ids) + len(found_ids)
    return {
        "objects_true": len(true_ids),
        "objects_found": len(found_ids),
        "mean_iou": float(iou.max(axis=1).mean()) if iou.size else float(not true_ids),
        "f1_at_50": 2.0 * matches / total if total else 1.0,
    }


def _ids(labels: NDArray[np.integer]) -> list[int]:
    return [int(number) for number in np.unique(labels) if number > 0]


def _load(
    folder: Path, name: str, cameras: dict[str, Any]
) -> tuple[NDArray[np.float32], NDArray[np.int32], Intrinsics]:
    depth = cv2.imread(str(folder / f"{name}_depth.png"), cv2.IMREAD_UNCHANGED)
    labels = cv2.imread(str(folder / f"{name}_label.png"), cv2.IMREAD_UNCHANGED)
    if depth is None or labels is None or depth.shape != labels.shape:
        raise InvalidValueError(f"frame {name}: expected a depth and a label image of one size in {folder}")
    camera = cameras.get(name, cameras)
    height, width = depth.shape
    intrinsics = Intrinsics(camera["fx"], camera["fy"], camera["cx"], camera["cy"], width, height)
    # Unlabelled stays 0 and surfaces become -1, so that a surface taken for an object counts as wrong.
    number = labels.astype(np.int32)
    truth = np.where(number >= _FIRST_OBJECT, number // _PARTS_PER_OBJECT, np.where(number > 0, -1, 0)).astype(np.int32)
    return depth.astype(np.float32) * np.float32(1e-3), truth, intrinsics


def _mean_row(rows: list[dict[str, Any]]) -> dict[str, Any]:
    mean = {key: float(np.mean([row[key] for row in rows])) for key in ("mean_iou", "f1_at_50", "ms")}
    counts = {key: sum(row[key] for row in rows) for key in ("objects_true", "objects_found")}
    return {"frame": "all", **counts, **mean}
