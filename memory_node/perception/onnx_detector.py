"""A detector from an ONNX file: YOLO-style and DETR-style outputs, class names from a text file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.detection import Detection
from memory_node.perception.image_input import image_size, letterboxed
from memory_node.perception.onnx_session import open_session

FloatArray = NDArray[np.float32]


def read_class_names(path: Path) -> list[str]:
    """Read one class name a line; the line's number is the class's.

    Raises:
        ResourceMissingError: there is no such file.
    """
    if not path.is_file():
        raise ResourceMissingError(f"{path}: no such class names file; give a text file with one name a line")
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class OnnxDetector:
    """Detects with any ONNX model whose output layout is one of:

    YOLO v8 and later: (1, 4 + classes, n), YOLO v5: (1, n, 5 + classes), each with centre, size in input pixels and
    scores;
    DETR: logits (1, n, classes [+ 1]) and boxes (1, n, 4), centre and size as parts of the image.
    """

    def __init__(self, config: OnnxDetectorConfig) -> None:
        self.config = config
        self.names = read_class_names(Path(config.class_names).expanduser())
        self._session = open_session(Path(config.model).expanduser())
        self._height, self._width = image_size(self._session, config.input_px)

    def detect(
        self, color: NDArray[np.uint8] | None, depth_m: NDArray[np.float32] | None, intrinsics: Intrinsics | None
    ) -> list[Detection]:
        """Return what is in an RGB image (h, w, 3), strongest first; nothing without one. Depth is not used."""
        if color is None:
            return []
        pixels, scale, left, top = letterboxed(color, self._height, self._width)
        outputs = self._session.run(None, {self._session.get_inputs()[0].name: pixels})
        boxes, scores = self._decoded([np.asarray(output, dtype=np.float32) for output in outputs])
        boxes = np.asarray((boxes - [left, top, left, top]) / scale, dtype=np.float32)
        height, width = color.shape[:2]
        boxes = np.clip(boxes, 0.0, [width, height, width, height])
        return self._detections(boxes, scores)

    def _decoded(self, outputs: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return boxes (n, 4) as left, top, right, bottom in input pixels and scores (n, classes)."""
        count = len(self.names)
        if len(outputs) >= 2:
            return self._decoded_detr(outputs)
        rows: FloatArray = outputs[0].reshape(outputs[0].shape[-2:])
        if rows.shape[0] == 4 + count:
            rows = rows.T
        if rows.shape[1] == 4 + count:
            return _corners(rows[:, :4]), rows[:, 4:]
        if rows.shape[1] == 5 + count:
            return _corners(rows[:, :4]), rows[:, 4:5] * rows[:, 5:]
        raise InvalidValueError(
            f"{self.config.model}: output {outputs[0].shape} fits no known layout with {count} class names"
        )

    def _decoded_detr(self, outputs: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        count = len(self.names)
        boxes = next((o for o in outputs if o.shape[-1] == 4), None)
        logits = next((o for o in outputs if o is not boxes and o.shape[-1] in (count, count + 1)), None)
        if boxes is None or logits is None:
            shapes = [output.shape for output in outputs]
            raise InvalidValueError(
                f"{self.config.model}: outputs {shapes} fit no known layout with {count} class names"
            )
        scores: FloatArray = logits.reshape(-1, logits.shape[-1])
        if scores.shape[1] == count + 1:  # softmax over the classes and "nothing", which comes last
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores = np.asarray(odds / odds.sum(axis=1, keepdims=True))[:, :count]
        else:  # one sigmoid a class (RT-DETR)
            scores = np.asarray(1.0 / (1.0 + np.exp(-scores)))
        size = np.array([self._width, self._height, self._width, self._height], np.float32)
        return _corners(boxes.reshape(-1, 4) * size), scores.astype(np.float32)

    def _detections(self, boxes: FloatArray, scores: FloatArray) -> list[Detection]:
        best = scores.max(axis=1)
        sound = np.isfinite(boxes).all(axis=1) & np.isfinite(best)
        sound &= (best >= self.config.min_score) & (boxes[:, 2] - boxes[:, 0] > 1.0) & (boxes[:, 3] - boxes[:, 1] > 1.0)
        boxes, scores, best = boxes[sound], np.clip(scores[sound], 0.0, 1.0), best[sound]
        found = []
        for i in sorted(self._unsuppressed(boxes, best, scores.argmax(axis=1)), key=lambda i: -best[i]):
            likely = np.argsort(-scores[i], kind="stable")[:3]
            named = {self.names[k]: float(scores[i, k]) for k in likely.tolist() if scores[i, k] > 0.05}
            left, top, right, bottom = (float(side) for side in boxes[i])
            found.append(Detection(named, (left, top, right, bottom)))
        return found

    def _unsuppressed(self, boxes: FloatArray, best: FloatArray, kinds: FloatArray) -> list[int]:
        """Return the boxes that no better one of their class covers: a mug before a plate overlaps it and stays."""
        sides = np.column_stack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])
        left: list[int] = []
        for kind in np.unique(kinds):
            (own,) = np.nonzero(kinds == kind)
            # Class by class: OpenCV's own function for that came with 4.7.
            kept = cv2.dnn.NMSBoxes(
                sides[own].tolist(), best[own].tolist(), self.config.min_score, self.config.max_overlap
            )
            left += own[np.asarray(kept, dtype=int).ravel()].tolist()
        return left


def _corners(rows: FloatArray) -> FloatArray:
    """Return left, top, right, bottom of centres and sizes (n, 4)."""
    half = 0.5 * rows[:, 2:4]
    return np.concatenate([rows[:, :2] - half, rows[:, :2] + half], axis=1)
