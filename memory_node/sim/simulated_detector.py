"""Detections as a trained detector would report them, faults included."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.states import ObjectState, StateBelief
from memory_node.perception.detection import Detection
from memory_node.sim.noise import DetectionNoise

STATE_PROBABILITY = 0.9
FALSE_NUMBER = 60000
FALSE_SIZE_PX = (24, 90)

Labels = NDArray[np.uint16]


@dataclass(frozen=True)
class InView:
    """What may be seen: its number in the true instance image, its class, and the states that can be seen."""

    number: int
    class_name: str
    states: Collection[ObjectState]


class SimulatedDetector:
    """Reports what is visible, with missed, false, confused and imprecise detections.

    Args:
        noise: the detector's faults.
        rng: draws them.
        alike: by class, those that it may be taken for.
        movable: classes that false reports are of.
    """

    def __init__(
        self,
        noise: DetectionNoise,
        rng: np.random.Generator,
        alike: Mapping[str, Sequence[str]],
        movable: Sequence[str],
    ) -> None:
        self._noise = noise
        self._rng = rng
        self._alike = alike
        self._movable = movable

    def detect(
        self, numbers: Labels, depth_m: NDArray[np.float32], things: Collection[InView], stamp_ns: int
    ) -> tuple[Labels, tuple[Detection, ...]]:
        """Return the label image (h, w) of what was detected and the detections that number into it.

        numbers: (h, w) of the things in truth. depth_m: (h, w) exact. stamp_ns: of the states that were seen.
        """
        labels = np.zeros_like(numbers)
        detections = []
        windows = ndimage.find_objects(numbers, max((thing.number for thing in things), default=0))
        for thing in things:
            window = windows[thing.number - 1]
            if window is None:
                continue
            mask = numbers[window] == thing.number
            if not self._is_reported(mask, depth_m[window]):
                continue
            detections.append(self._report(thing, self._mark(labels, window, mask, thing.number), stamp_ns))
        detections += self._false_reports(labels)
        return labels, tuple(detections)

    def _is_reported(self, mask: NDArray[np.bool_], depth_m: NDArray[np.float32]) -> bool:
        noise = self._noise
        if int(mask.sum()) < max(noise.min_pixels, 1) or float(np.median(depth_m[mask])) > noise.max_range_m:
            return False
        return self._rng.random() >= noise.miss_probability

    def _mark(
        self, labels: Labels, window: tuple[slice, slice], mask: NDArray[np.bool_], number: int
    ) -> tuple[int, int, int, int]:
        """Write the object's imprecise mask into the labels; return its left, top, right and bottom."""
        edge = self._noise.mask_edge_px
        change = int(self._rng.integers(-edge, edge + 1))
        height, width = labels.shape
        top, left = max(window[0].start - edge, 0), max(window[1].start - edge, 0)
        bottom, right = min(window[0].stop + edge, height), min(window[1].stop + edge, width)
        grown = np.zeros((bottom - top, right - left), np.uint8)
        grown[window[0].start - top : window[0].stop - top, window[1].start - left : window[1].stop - left] = mask
        if change:
            kernel = np.ones((2 * abs(change) + 1,) * 2, np.uint8)
            changed = cv2.dilate(grown, kernel) if change > 0 else cv2.erode(grown, kernel)
            grown = np.asarray(changed if changed.any() else grown, np.uint8)
        labels[top:bottom, left:right][grown > 0] = number
        rows, columns = np.flatnonzero(grown.any(axis=1)), np.flatnonzero(grown.any(axis=0))
        return left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1

    def _report(self, thing: InView, box: tuple[int, int, int, int], stamp_ns: int) -> Detection:
        noise = self._noise
        score = float(np.clip(self._rng.normal(noise.score_mean, noise.score_sigma), 0.05, 1.0))
        alike = self._alike.get(thing.class_name, ())
        scores = {thing.class_name: score}
        if alike and noise.class_confusion_probability > 0.0:
            other = str(self._rng.choice(alike))
            confused = self._rng.random() < noise.class_confusion_probability
            first, second = (other, thing.class_name) if confused else (thing.class_name, other)
            scores = {first: score, second: 0.5 * (1.0 - score)}
        corners = np.array(box, dtype=np.float64) + self._rng.normal(size=4) * noise.box_sigma_px
        left, top = np.minimum(corners[:2], corners[2:] - 1.0)
        right, bottom = np.maximum(corners[2:], np.array([left, top]) + 1.0)
        states = tuple(StateBelief(state, STATE_PROBABILITY, stamp_ns) for state in sorted(thing.states))
        return Detection(scores, (float(left), float(top), float(right), float(bottom)), thing.number, states=states)

    def _false_reports(self, labels: Labels) -> list[Detection]:
        reports = []
        height, width = labels.shape
        for number in range(int(self._rng.poisson(self._noise.false_positive_rate))):
            wide, high = (int(value) for value in self._rng.integers(*FALSE_SIZE_PX, size=2))
            left, top = int(self._rng.integers(0, width - wide)), int(self._rng.integers(0, height - high))
            labels[top : top + high, left : left + wide] = FALSE_NUMBER + number
            score = float(self._rng.uniform(0.3, 0.7))
            box = (float(left), float(top), float(left + wide), float(top + high))
            reports.append(Detection({str(self._rng.choice(self._movable)): score}, box, FALSE_NUMBER + number))
        return reports
