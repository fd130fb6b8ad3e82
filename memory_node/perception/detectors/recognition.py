"""Which layout a model's outputs have: told from names, shapes and metadata."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.perception.detectors.candidates import cells
from memory_node.perception.detectors.model_description import ModelDescription

# c: number of classes, n: of boxes, k: of prototype masks.
KNOWN: Mapping[str, str] = {
    "yolo_v5": "one output (1, n, 5 + c): YOLO v5 to v7",
    "yolo_v8": "one output (1, 4 + c, n): YOLO v8, v9, 11, 12, YOLO-World with baked-in prompts",
    "yolo_v5_seg": "(1, n, 5 + c + k) and (1, k, h, w): masks of YOLO v5",
    "yolo_v8_seg": "(1, 4 + c + k, n) and (1, k, h, w): masks of YOLO v8, 11",
    "yolox": "one output (1, n, 5 + c), n the cells of grids of 8, 16 and 32 pixels",
    "end_to_end": "one output (1, n, 6), n up to 1000: YOLO v10, 26",
    "end_to_end_seg": "(1, n, 6 + k) and (1, k, h, w): masks of YOLO 26",
    "boxes_scores": "boxes (1, n, 4) as corners and scores (1, n, c): YOLO-NAS, PP-YOLOE",
    "rtdetr": "one output (1, n, 4 + c), n up to 1000: RT-DETR as Ultralytics exported it until 8.3",
    "rtdetr_chosen": "one output (1, n, 6), boxes as parts of the image: RT-DETR as Ultralytics exports it now",
    "detr_official": "inputs images and orig_target_sizes; labels, boxes, scores: RT-DETR, D-FINE, DEIM",
    "detr": "logits (1, n, c) and boxes (1, n, 4): RT-DETR, D-FINE, Deformable DETR of Hugging Face or LibreYOLO",
    "detr_softmax": "logits (1, n, c + 1) and boxes (1, n, 4): DETR",
    "rf_detr": "dets (1, n, 4), labels (1, n, c or c + 1), perhaps masks (1, n, h, w): RF-DETR",
    "torchvision": "boxes (n, 4), labels (n), scores (n), perhaps masks (n, 1, h, w)",
    "owl": "inputs input_ids and pixel_values; logits (1, n, prompts) and pred_boxes (1, n, 4): OWL-ViT, OWLv2",
    "grounding_dino": "inputs input_ids and token_type_ids; logits (1, n, tokens) and pred_boxes (1, n, 4)",
}

Outputs = Mapping[str, NDArray[np.generic]]
# Models that choose themselves list no more; dense ones have a box for every cell of their grids.
_MOST_CHOSEN = 1000
# Centres and sizes that are parts of the image are no larger than this; pixels are, even of a model that sees nothing.
_FARTHEST_PART = 2.0
_SIZE_INPUTS = ("orig_target_sizes", "orig_size", "im_shape")


def recognised(model: ModelDescription, outputs: Outputs, classes: int, input_size: tuple[int, int], what: str) -> str:
    """Return the name of a model's layout.

    outputs: of one run. classes: number of class names, 0 where none are given. input_size: height and width.

    Raises:
        InvalidValueError: none fits; the message says what was found and what is known.
    """
    found = (
        _by_inputs(model, outputs)
        or _by_lists(outputs)
        or _by_queries(model, outputs, classes, input_size)
        or _by_prototypes(outputs, classes)
        or _by_rows(outputs, classes, input_size)
    )
    if not found:
        raise InvalidValueError(_unknown(model, outputs, classes, what))
    return found


def _is_dense(boxes: int, input_size: tuple[int, int]) -> bool:
    """Return whether a model gives a box for every cell of its grids, and not a list that it chose itself."""
    return boxes > _MOST_CHOSEN or boxes in (cells(input_size), cells(input_size, (8, 16, 32, 64)))


def last_two(array: NDArray[np.generic]) -> tuple[int, int]:
    """Return the last two sides of an array."""
    return int(array.shape[-2]), int(array.shape[-1])


def _by_inputs(model: ModelDescription, outputs: Outputs) -> str:
    if model.takes_text:
        return "grounding_dino" if model.is_grounded else "owl"
    sized = model.input_named(*_SIZE_INPUTS) is not None
    return "detr_official" if sized and {"labels", "boxes", "scores"} <= set(outputs) else ""


def _by_lists(outputs: Outputs) -> str:
    """Return what lists boxes with one whole class number each."""
    boxes = [array for array in outputs.values() if array.ndim == 2 and array.shape[1] == 4]
    numbers = [array for array in outputs.values() if array.ndim == 1 and array.dtype.kind == "i"]
    scores = [array for array in outputs.values() if array.ndim == 1 and array.dtype.kind == "f"]
    return "torchvision" if len(boxes) == len(numbers) == len(scores) == 1 else ""


def _by_queries(model: ModelDescription, outputs: Outputs, classes: int, input_size: tuple[int, int]) -> str:
    """Return what has boxes and classes of each query in outputs of their own."""
    flat = {name: array for name, array in outputs.items() if array.ndim == 3}
    boxes = next((name for name, array in flat.items() if array.shape[-1] == 4), None)
    if boxes is None or len(flat) < 2:
        return ""
    others = {name: array for name, array in flat.items() if name != boxes}
    scores = next(iter(others.values()))
    if scores.shape[1] != flat[boxes].shape[1]:
        return ""
    if model.family == "rfdetr" or {"dets", "labels"} <= set(outputs):
        return "rf_detr"
    if "scores" in others or _is_dense(scores.shape[1], input_size):
        return "boxes_scores" if classes in (0, outputs.get("scores", scores).shape[-1]) else ""
    return _detr(int(scores.shape[-1]), classes)


def _detr(columns: int, classes: int) -> str:
    """Return which DETR has so many scores a query. COCO's 80 classes are numbered to 90, with gaps."""
    if (columns, classes) == (92, 80):
        return "detr_softmax"
    if classes in (0, columns) or (columns, classes) == (91, 80):
        return "detr"
    return "detr_softmax" if columns == classes + 1 else ""


def _by_prototypes(outputs: Outputs, classes: int) -> str:
    """Return what has prototype masks."""
    prototypes = [array for array in outputs.values() if array.ndim == 4]
    rows = [array for array in outputs.values() if array.ndim == 3]
    if len(prototypes) != 1 or len(rows) != 1:
        return ""
    one, other = last_two(rows[0])
    factors = int(prototypes[0].shape[1])
    if other == 6 + factors and one <= _MOST_CHOSEN:
        return "end_to_end_seg"
    if one - factors == 4 + classes or (not classes and one < other):
        return "yolo_v8_seg"
    return "yolo_v5_seg" if other - factors == 5 + classes or (not classes and other < one) else ""


def _by_rows(outputs: Outputs, classes: int, input_size: tuple[int, int]) -> str:
    """Return what has everything in one output (1, n, m)."""
    (first, *more) = outputs.values()
    if more or first.ndim not in (2, 3):
        return ""
    one, other = last_two(first)
    are_chosen = not _is_dense(one, input_size)
    if other == 6 and are_chosen and one != 4 + classes:
        return _chosen(np.asarray(first, np.float32).reshape(-1, 6), classes)
    if one == 4 + classes or (not classes and 4 < one < other):
        return "yolo_v8"
    if other == 4 + classes:
        return "rtdetr" if are_chosen else "yolo_v8"
    if other == 5 + classes or (not classes and 5 < other < one):
        return "yolox" if one == cells(input_size) else "yolo_v5"
    return ""


def _chosen(rows: NDArray[np.float32], classes: int) -> str:
    """Return the layout of rows (n, 6) of a model that chose its boxes itself.

    Those of YOLO are corners in pixels, those of RT-DETR are parts of the image.
    """
    if np.abs(rows[:, :4]).max() > _FARTHEST_PART or not rows[:, :4].any():
        return "end_to_end"
    is_scores = classes == 2 and bool((rows[:, 5] % 1.0).any())
    return "rtdetr" if is_scores else "rtdetr_chosen"


def _unknown(model: ModelDescription, outputs: Outputs, classes: int, what: str) -> str:
    inputs = ", ".join(map(str, model.inputs))
    found = ", ".join(f"{name} {tuple(array.shape)}" for name, array in outputs.items())
    names = f"with {classes} class names" if classes else "without class names"
    known = "\n".join(f"  {name}: {told}" for name, told in KNOWN.items())
    return (
        f"{what}: outputs {found} of inputs {inputs} fits no known layout {names}. Known are\n{known}\n"
        "If the model has another number of classes, give its own class names; else name the parameter layout."
    )
