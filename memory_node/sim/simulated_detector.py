"""Detections as a trained detector would report them: the truth of the instance image, with its usual mistakes."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.catalogue.object_kind import Property
from memory_node.domain.states import StateBelief
from memory_node.perception.detection import Detection
from memory_node.sim.noise import DetectionNoise
from memory_node.sim.object_types import ObjectType
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import SEEN_STATES
from memory_node.sim.world import World

STATE_PROBABILITY = 0.9
FALSE_NUMBER = 60000
FALSE_SIZE_PX = (24, 90)

Labels = NDArray[np.uint16]


class SimulatedDetector:
    """Reports what is visible, with missed, false, confused and imprecise detections (seeded by its generator)."""

    def __init__(self, world: World, noise: DetectionNoise, rng: np.random.Generator) -> None:
        self._world = world
        self._noise = noise
        self._rng = rng
        self._types = [one for one in world.types if one.is_named]
        self._alike = _alike_classes(self._types)

    def detect(
        self, numbers: Labels, depth_m: NDArray[np.float32], number_of: Callable[[str], int]
    ) -> tuple[Labels, tuple[Detection, ...]]:
        """Return the label image (h, w) of what was detected and the detections, from the true numbers (h, w)."""
        labels = np.zeros_like(numbers)
        detections = []
        windows = ndimage.find_objects(numbers)
        with self._world.lock:
            held = self._world.held
            # A robot's self filter takes out its own hand and what is in it.
            in_hand = {thing.id for thing in self._world.with_contents(held)} if held is not None else set()
            seen = [thing for thing in self._world if thing.type.is_named and thing.id not in in_hand]
            things = [(number_of(thing.id), thing) for thing in seen]
        for number, thing in things:
            window = windows[number - 1] if number <= len(windows) else None
            if window is None:
                continue
            mask = numbers[window] == number
            if not self._is_reported(mask, depth_m[window]):
                continue
            detections.append(self._report(thing, number, self._mark(labels, window, mask, number)))
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

    def _report(self, thing: Thing, number: int, box: tuple[int, int, int, int]) -> Detection:
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
        seen = sorted(thing.states & SEEN_STATES)
        states = tuple(StateBelief(state, STATE_PROBABILITY, self._world.now_ns) for state in seen)
        return Detection(scores, (float(left), float(top), float(right), float(bottom)), number, states=states)

    def _false_reports(self, labels: Labels) -> list[Detection]:
        reports = []
        height, width = labels.shape
        classes = [one.name for one in self._types if one.can(Property.PICKUPABLE)]
        for number in range(int(self._rng.poisson(self._noise.false_positive_rate))):
            wide, high = (int(value) for value in self._rng.integers(*FALSE_SIZE_PX, size=2))
            left, top = int(self._rng.integers(0, width - wide)), int(self._rng.integers(0, height - high))
            labels[top : top + high, left : left + wide] = FALSE_NUMBER + number
            score = float(self._rng.uniform(0.3, 0.7))
            box = (float(left), float(top), float(left + wide), float(top + high))
            reports.append(Detection({str(self._rng.choice(classes)): score}, box, FALSE_NUMBER + number))
        return reports


def _alike_classes(types: list[ObjectType]) -> dict[str, tuple[str, ...]]:
    """Return for every class those that it may be taken for: drawn alike, and both movable or both not."""
    alike = {}
    for one in types:
        others = [
            o.name for o in types if o.looks.shape == one.looks.shape and o.kind.pickupable == one.kind.pickupable
        ]
        alike[one.name] = tuple(dict.fromkeys(name for name in others if name != one.name))
    return alike
