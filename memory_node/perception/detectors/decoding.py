"""A model's outputs as candidates, by its layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.perception.detectors.candidates import (
    Candidates,
    FloatArray,
    boxes_are_corners,
    corners_of,
    decode_end_to_end,
    decode_v5,
    decode_v8,
    decode_yolox,
    scores_of_labels,
    sigmoid,
    yolox_is_decoded,
)
from memory_node.perception.detectors.model_description import ModelDescription
from memory_node.perception.detectors.preprocessing import (
    CLIP_MEAN,
    CLIP_STD,
    IMAGENET_MEAN,
    IMAGENET_STD,
    Preprocessing,
)
from memory_node.perception.detectors.recognition import Outputs
from memory_node.perception.detectors.text_prompts import TextPrompts

_TOP_LEFT = Preprocessing("letterbox_top_left")
_IMAGENET = Preprocessing("stretch", mean=IMAGENET_MEAN, std=IMAGENET_STD)
# As LibreYOLO 1.6 prepares images; families that are not named here are prepared as their layout usually is.
_OF_FAMILY = {
    "yolo7": _TOP_LEFT,
    "yolo9": _TOP_LEFT,
    "yolo9_e2e": _TOP_LEFT,
    "yolo9_p2": _TOP_LEFT,
    "ppyoloe": _IMAGENET,
    "picodet": _IMAGENET,
    "lwdetr": _IMAGENET,
    "deformable_detr": _IMAGENET,
    "detr": _IMAGENET,
    "ec": _IMAGENET,
    "rtmdet": Preprocessing("letterbox_top_left", mean=IMAGENET_MEAN, std=IMAGENET_STD, channels="bgr"),
}
_CENTERED = ("center", "centre")
# DEIMv2's sizes with a DINOv3 backbone see colours as that was trained.
_DINO_SIZES = ("s", "m", "l", "x")
# Trained to give one box a thing, though in the form of those that give several.
_WITHOUT_REPEATS = ("yolo9_e2e",)


def usual_size(model: ModelDescription) -> tuple[int, int]:
    """Return height and width of the input of a model that takes any and does not say which it was trained for.

    Grounding DINO's are the most that the image's shorter and longer side may have.
    """
    if model.is_grounded:
        return 800, 1333
    return (960, 960) if model.takes_text else (640, 640)


def decode_queries(
    boxes: FloatArray,
    logits: FloatArray,
    columns: NDArray[np.intp],
    size: tuple[int, int],
    softmax: bool,
    masks: FloatArray | None = None,
) -> Candidates:
    """Boxes (n, 4): centre and size as parts of the input; logits (n, c); columns: of the named classes.

    softmax: over the classes and "nothing", which is the last column; else each class for itself. masks: logits (n, mh,
    mw) over the whole input.
    """
    if softmax:
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        scores = (odds / odds.sum(axis=1, keepdims=True))[:, columns]
    else:
        scores = sigmoid(logits[:, columns])
    sides = np.array([size[1], size[0], size[1], size[0]], np.float32)
    chosen = None if masks is None else lambda which: masks[which]
    return Candidates(corners_of(boxes) * sides, np.asarray(scores, np.float32), repeated=False, masks=chosen)


def decode_listed(
    boxes: FloatArray,
    numbers: NDArray[np.integer],
    scores: FloatArray,
    name_of_number: NDArray[np.intp],
    masks: FloatArray | None = None,
) -> Candidates:
    """Boxes (n, 4) as corners in pixels of the input, one class number and one score each, as a model lists them that
    has chosen itself; name_of_number: index of the name of each number, -1 for none. masks: probabilities (n, h, w)."""
    known = (numbers >= 0) & (numbers < len(name_of_number))
    labels = np.where(known, name_of_number[np.where(known, numbers, 0)], -1)
    chosen = None if masks is None else lambda which: masks[which] - np.float32(0.5)
    dense = scores_of_labels(labels, scores, int(name_of_number.max()) + 1)
    return Candidates(boxes, dense, repeated=False, masks=chosen)


# COCO numbers its 80 classes from 1 to 90; these are not used.
_COCO_UNUSED = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
_COCO_NUMBERS = [number for number in range(1, 91) if number not in _COCO_UNUSED]
_BACKGROUND = ("background", "__background__", "bg", "n/a")


def columns_of_names(columns: int, names: Sequence[str], what: str) -> NDArray[np.intp]:
    """Return for each name the column of a model's scores that is its class.

    columns: of the scores, without a column for "nothing". Known: as many columns as names; COCO's numbers 0 to 90 for
    its 80 names; one column more than names, the last of which is unused (RF-DETR).

    Raises:
        InvalidValueError: other numbers; what: names the model.
    """
    if columns == len(names):
        return np.arange(columns)
    if columns in (90, 91) and len(names) == len(_COCO_NUMBERS):
        return np.array(_COCO_NUMBERS) - (91 - columns)
    if columns == len(names) + 1:
        return np.arange(len(names))
    raise InvalidValueError(f"{what}: the model tells {columns} classes apart, and {len(names)} class names are given")


def names_of_numbers(names: Sequence[str], from_one: bool) -> NDArray[np.intp]:
    """Return for each class number of a model that tells numbers, from 0 on, the index of its name, -1 for none.

    from_one: number 0 is the background, as in torchvision. Names that themselves begin with a background, or that are
    COCO's 91, are taken number by number.
    """
    counted = not from_one or names[0].lower() in _BACKGROUND or len(names) == 91
    if counted:
        return np.arange(len(names))
    table = np.full(91 if len(names) == len(_COCO_NUMBERS) else len(names) + 1, -1)
    table[_COCO_NUMBERS if len(names) == len(_COCO_NUMBERS) else np.arange(1, len(names) + 1)] = np.arange(len(names))
    return table


_STRETCHED = Preprocessing("stretch")
_PREPROCESSING = {
    "yolox": Preprocessing("letterbox_top_left", scale=1.0, channels="bgr"),
    "rtdetr": _STRETCHED,
    "rtdetr_chosen": _STRETCHED,
    "detr_official": _STRETCHED,
    "detr": _STRETCHED,
    "detr_softmax": _IMAGENET,
    "rf_detr": _IMAGENET,
    "torchvision": _STRETCHED,
    "owl": Preprocessing("letterbox_top_left", mean=CLIP_MEAN, std=CLIP_STD, pad=128),
    "grounding_dino": Preprocessing("scaled", mean=IMAGENET_MEAN, std=IMAGENET_STD),
}


def usual_preprocessing(layout: str, model: ModelDescription) -> Preprocessing:
    """Return how models of a layout are usually fed, as far as the metadata does not say otherwise."""
    if model.family.startswith("yolo9") and model.metadata.get("letterbox_pad", "") in _CENTERED:
        return Preprocessing("letterbox")
    if model.family == "deimv2" and model.metadata.get("size", "") in _DINO_SIZES:
        return _IMAGENET
    if model.family in _OF_FAMILY:
        return _OF_FAMILY[model.family]
    if layout == "torchvision" and None in model.input_size:
        return Preprocessing("none")
    return _PREPROCESSING.get(layout, Preprocessing())


@dataclass(frozen=True, eq=False)
class Decoding:
    """How a model's outputs are read.

    layout: its name. names: of the classes. is_decoded: of YOLOX, boxes are pixels already. corners: of YOLO v8, boxes
    are corners. prompts: of open-vocabulary models.
    """

    layout: str
    names: tuple[str, ...]
    model: ModelDescription
    what: str
    is_decoded: bool = False
    corners: bool = False
    prompts: TextPrompts | None = None

    @classmethod
    def probed(
        cls,
        layout: str,
        names: tuple[str, ...],
        model: ModelDescription,
        what: str,
        outputs: Outputs,
        size: tuple[int, int],
    ) -> Decoding:
        """Return the decoding of a layout; what names do not tell is told from the outputs of one run."""
        first = next(array for array in outputs.values() if array.ndim < 4)
        decoded = layout == "yolox" and yolox_is_decoded(_rows(first), size)
        prototypes = _masks(outputs) if layout.endswith("_seg") else None
        columns = 4 + len(names) + (0 if prototypes is None else len(prototypes))
        corners = layout.startswith("yolo_v8") and boxes_are_corners(_upright(first, columns))
        return cls(layout, names, model, what, decoded, corners)

    def candidates(self, outputs: Outputs, input_size: tuple[int, int]) -> Candidates:
        """Return the boxes of one image's outputs, each with a batch side of 1 or none.

        Raises:
            InvalidValueError: outputs of another shape than the layout's.
        """
        count = len(self.names)
        first = next(iter(outputs.values()))
        if self.layout in ("yolo_v8", "yolo_v8_seg", "yolo_v5", "yolo_v5_seg", "end_to_end", "end_to_end_seg", "yolox"):
            return self._rows_of_yolo(outputs, input_size)
        if self.layout == "rtdetr":
            rows = _upright(first, 4 + count)
            sides = np.array(input_size[::-1] * 2, np.float32)
            return Candidates(corners_of(rows) * sides, rows[:, 4:], repeated=False)
        if self.layout == "rtdetr_chosen":
            rows, sides = _rows(first), np.array(input_size[::-1] * 2, np.float32)
            return decode_end_to_end(np.concatenate([corners_of(rows) * sides, rows[:, 4:6]], axis=1), count)
        if self.layout == "boxes_scores":
            boxes, scores = self._pair(outputs)
            return Candidates(boxes, scores[:, columns_of_names(scores.shape[1], self.names, self.what)])
        if self.layout in ("torchvision", "detr_official"):
            return self._listed(outputs)
        boxes, logits = self._pair(outputs)
        if self.prompts is not None:
            square = (max(input_size),) * 2 if self.layout == "owl" else input_size
            sides = np.array(square[::-1] * 2, np.float32)
            return Candidates(corners_of(boxes) * sides, self.prompts.scores(logits), repeated=False)
        softmax = self.layout == "detr_softmax"
        columns = columns_of_names(logits.shape[1] - softmax, self.names, self.what)
        return decode_queries(boxes, logits, columns, input_size, softmax, _masks(outputs))

    def _rows_of_yolo(self, outputs: Outputs, input_size: tuple[int, int]) -> Candidates:
        count = len(self.names)
        flat = [array for array in outputs.values() if array.ndim < 4]
        prototypes = _masks(outputs)
        factors = 0 if prototypes is None else len(prototypes)
        if self.layout.startswith("yolo_v8"):
            rows = _upright(flat[0], 4 + count + factors)
            return decode_v8(rows, count, prototypes, self.corners, self.model.family not in _WITHOUT_REPEATS)
        if self.layout.startswith("end_to_end"):
            return decode_end_to_end(_rows(flat[0]), count, prototypes)
        rows = _upright(flat[0], 5 + count + factors)
        if self.layout == "yolox" and not self.is_decoded:
            return decode_yolox(rows, count, input_size)
        return decode_v5(rows, count, prototypes)

    def _listed(self, outputs: Outputs) -> Candidates:
        numbers = np.concatenate([a.ravel() for a in outputs.values() if a.dtype.kind in "iu"][:1]).astype(np.intp)
        boxes = next(_float(a).reshape(-1, 4) for a in outputs.values() if a.shape[-1] == 4 and a.dtype.kind == "f")
        scores = [a for a in outputs.values() if a.dtype.kind == "f" and a.size == len(numbers)]
        if not scores or len(boxes) != len(numbers):
            raise InvalidValueError(f"{self.what}: {len(boxes)} boxes, {len(numbers)} labels and no score for each")
        # LibreYOLO's exports of torchvision's models count classes from 0.
        from_one = self.layout == "torchvision" and not self.model.family
        table = names_of_numbers(self.names, from_one)
        beyond = numbers[numbers >= len(table)]
        if beyond.size:
            raise InvalidValueError(
                f"{self.what}: the model told class number {int(beyond.max())}, but only {len(self.names)} class names "
                "are given"
            )
        masks = next((_float(a).reshape(len(numbers), *a.shape[-2:]) for a in outputs.values() if a.ndim == 4), None)
        return decode_listed(boxes, numbers, _float(scores[0]).ravel(), table, masks)

    def _pair(self, outputs: Outputs) -> tuple[FloatArray, FloatArray]:
        """Return boxes (n, 4) and what belongs to each of them (n, c)."""
        flat = {name: array for name, array in outputs.items() if array.ndim == 3}
        fours = [name for name, array in flat.items() if array.shape[-1] == 4]
        boxes = next((name for name in ("pred_boxes", "dets", "boxes") if name in fours), next(iter(fours), None))
        if boxes is None:
            raise InvalidValueError(f"{self.what}: layout {self.layout} has boxes (1, n, 4), found {_shapes(outputs)}")
        others = [name for name in flat if name != boxes]
        wanted = [name for name in ("logits", "pred_logits", "labels", "scores") if name in others]
        other = next(iter([*wanted, *others]), None)
        if other is None:
            raise InvalidValueError(f"{self.what}: layout {self.layout} has scores, too; found {_shapes(outputs)}")
        return _rows(flat[boxes]), _rows(flat[other])


def _shapes(outputs: Outputs) -> str:
    return ", ".join(f"{name} {tuple(array.shape)}" for name, array in outputs.items())


def _masks(outputs: Outputs) -> FloatArray | None:
    return next((_float(array).reshape(array.shape[-3:]) for array in outputs.values() if array.ndim == 4), None)


def _float(array: NDArray[np.generic]) -> FloatArray:
    return np.asarray(array, dtype=np.float32)


def _rows(array: NDArray[np.generic]) -> FloatArray:
    return _float(array).reshape(array.shape[-2:])


def _upright(array: NDArray[np.generic], columns: int) -> FloatArray:
    """Return an output as rows of `columns` numbers, whichever way round it is.

    Raises:
        InvalidValueError: neither side is of that length.
    """
    rows = _rows(array)
    if rows.shape[1] == columns:
        return rows
    if rows.shape[0] == columns:
        return rows.T
    raise InvalidValueError(f"expected rows of {columns} numbers, got an output {tuple(array.shape)}")
