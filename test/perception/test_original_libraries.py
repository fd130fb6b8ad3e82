"""Detectors read as the libraries read them that they come from: the same boxes, classes, scores and masks.

`recorded_answers` has what LibreYOLO 1.6, Ultralytics 8.4, yolov5 7.0, torchvision 0.29 and transformers 5.23 said of
`picture()` with random weights: the outputs of the file that each exported, and what its own code read from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from onnx_graphs import save_model

from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.detection import Detection
from memory_node.perception.onnx_detector import OnnxDetector

RECORDED = sorted((Path(__file__).parent / "recorded_answers").glob("*.npz"))
# Pixels of the picture, and the score's unit.
BOX_PX, SCORE = 0.1, 1e-3
# IoU from which of two boxes of a class the libraries leave the weaker out.
OVERLAP = 0.5
# Of smaller masks the box's edge decides.
MASK_PX = 100


@dataclass(frozen=True, eq=False)
class Original:
    """What a library says of `picture()`: (n, 4) corners in it, and (n, 240, 320) masks or None."""

    boxes: np.ndarray
    scores: np.ndarray
    classes: np.ndarray
    masks: np.ndarray | None


def picture() -> np.ndarray:
    """Return a smooth random RGB image (240, 320, 3), of which every way of resizing makes nearly the same."""
    coarse = np.random.default_rng(3).integers(0, 255, (15, 20, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (320, 240), interpolation=cv2.INTER_CUBIC))


def opened(model: Path, names: tuple[str, ...], min_score: float, prompts: tuple[str, ...]) -> OnnxDetector:
    path = ""
    if names:
        path = str(model.with_name("names.txt"))
        Path(path).write_text("\n".join(names), encoding="utf-8")
    return OnnxDetector(
        OnnxDetectorConfig(
            model=str(model),
            class_names=path,
            prompts=", ".join(prompts),
            min_score=min_score,
            max_overlap=OVERLAP,
        )
    )


def assert_told_alike(detector: OnnxDetector, text: Mapping[str, np.ndarray]) -> None:
    """Compare the text inputs that we make of prompts with the library's; of Grounding DINO, a mask is no text."""
    if not text:
        return
    assert set(detector._prompts.feed) == set(text) - {"pixel_mask"}
    for name, array in detector._prompts.feed.items():
        np.testing.assert_array_equal(array, text[name], err_msg=name)


def visible(original: Original, classes_named: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return boxes, scores and classes of what a library says, and which of them are the best class of their box.

    Boxes are cut at the picture's edge; those no larger than a pixel, or of a class without a name, are left out. Some
    libraries list a box once for each of its classes.
    """
    boxes = np.clip(original.boxes.astype(np.float32).reshape(-1, 4), 0.0, [320.0, 240.0] * 2)
    large = ((boxes[:, 2:] - boxes[:, :2]) > 1.0).all(axis=1) & (original.classes < classes_named)
    boxes, scores, classes = boxes[large], original.scores[large], original.classes[large]
    order = np.argsort(-scores, kind="stable")
    _, first = np.unique(boxes[order].round(2), axis=0, return_index=True)
    is_best = np.zeros(len(boxes), bool)
    is_best[order[first]] = True
    return boxes, scores, classes, is_best


def unmatched(found: list[Detection], names: tuple[str, ...], original: Original) -> tuple[int, int]:
    """Return how many detections the library does not have, and how many of its own are not found.

    Detections weaker than all of the library's are left out: some libraries list only the strongest 100 or 300.
    """
    boxes, scores, classes, is_best = visible(original, len(names))
    weakest = original.scores.min(initial=1.0) - SCORE
    found = [one for one in found if max(one.class_scores.values()) >= weakest]
    same = _same(found, names, boxes, scores, classes)
    return int((~same.any(axis=1)).sum()), int((~same[:, is_best].any(axis=0)).sum())


def _same(
    found: list[Detection], names: tuple[str, ...], boxes: np.ndarray, scores: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    ours = np.array([one.box_px for one in found], np.float32).reshape(-1, 4)
    best = [max(one.class_scores.items(), key=lambda item: item[1]) for one in found]
    same = np.abs(ours[:, None] - boxes[None]).max(axis=2, initial=0.0) < BOX_PX
    same &= np.array([names.index(name) for name, _ in best])[:, None] == classes[None]
    same &= np.abs(np.array([score for _, score in best])[:, None] - scores[None]) < SCORE
    return np.asarray(same)


def mask_agreement(found: list[Detection], names: tuple[str, ...], original: Original) -> list[float]:
    """Return the IoU of each mask of the library, as far as they are recorded, with that of the same detection.

    Of the pixels that lie wholly in the box: libraries cut masks at its edge in different ways, or not at all.
    """
    assert original.masks is not None
    first = len(original.masks)
    boxes = np.clip(original.boxes.astype(np.float32), 0.0, [320.0, 240.0] * 2)
    same = _same(found, names, boxes[:first], original.scores[:first], original.classes[:first])
    overlaps = []
    for column in np.flatnonzero(same.any(axis=0)):
        (left, top), (right, bottom) = np.ceil(boxes[column, :2]).astype(int), boxes[column, 2:].astype(int)
        inside = slice(top, bottom), slice(left, right)
        theirs = original.masks[column][inside]
        if theirs.sum() < MASK_PX:
            continue
        mask = found[int(same[:, column].argmax())].mask
        ours = mask[inside]
        overlaps.append(float((ours & theirs).sum() / (ours | theirs).sum()))
    return overlaps


def assert_alike(found: list[Detection], names: tuple[str, ...], original: Original) -> None:
    assert unmatched(found, names, original) == (0, 0)
    if original.masks is not None:
        overlaps = mask_agreement(found, names, original)
        assert len(overlaps) > 0
        assert min(overlaps) > 0.9


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_answers_are_given_again(path: Path, tmp_path: Path) -> None:
    recorded = np.load(path)
    outputs = {key.removeprefix("out_"): recorded[key] for key in recorded.files if key.startswith("out_")}
    metadata = dict(zip(recorded["metadata_keys"].tolist(), recorded["metadata_values"].tolist()))
    text = {key.removeprefix("text_"): recorded[key] for key in recorded.files if key.startswith("text_")}
    others = {name: (list(array.shape), "INT64") for name, array in text.items()}
    for name in ("tokenizer.json", "preprocessor_config.json"):
        if name in recorded.files:
            (tmp_path / name).write_text(str(recorded[name]), encoding="utf-8")
    entry = ("images", recorded["input_shape"].tolist())
    model = save_model(tmp_path / "model.onnx", outputs, entry, others, metadata)
    masks = np.unpackbits(recorded["masks"], axis=2).astype(bool) if "masks" in recorded.files else None
    answer = {name: recorded[name] for name in ("boxes", "scores", "classes")}
    original = Original(**answer, masks=masks)
    prompts = tuple(recorded["prompts"].tolist()) if text else ()
    detector = opened(model, tuple(recorded["names"].tolist()), float(recorded["min_score"]), prompts)
    assert_told_alike(detector, text)
    found = detector.detect(picture(), None, None)
    assert len(found) > 0
    assert_alike(found, detector.names, original)
