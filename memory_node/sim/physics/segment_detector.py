"""Detections as a trained detector would give them, from the renderer's instances: with misses, confusions, ragged
masks."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.states import StateBelief
from memory_node.perception.detection import Detection
from memory_node.sim.noise import DetectionNoise
from memory_node.sim.physics.rgbd_camera import ROBOT
from memory_node.sim.physics.simulation import Simulation
from memory_node.sim.physics.switches import Switches

_STATE_PROBABILITY = 0.9
_FALSE_SIZE_PX = (15, 60)


class SegmentDetector:
    """Reports what is in view.

    Args:
        simulation: tells what the hand holds, which a robot's self filter takes out.
        switches: tell the states that can be seen.
        numbers: the number of each item in the instance images.
        noise: the detector's faults.
        rng: draws them.
    """

    def __init__(
        self,
        simulation: Simulation,
        switches: Switches,
        numbers: Mapping[str, int],
        noise: DetectionNoise,
        rng: np.random.Generator,
    ) -> None:
        self._simulation = simulation
        self._switches = switches
        self._named = {number: item for item, number in numbers.items() if simulation.items[item].class_name}
        self._movable = sorted({item.class_name for item in simulation.items.values() if not item.fixed})
        self._other = {one: other for pair in simulation.plan.alike for one, other in (pair, pair[::-1])}
        self._noise = noise
        self._rng = rng

    def detect(
        self, numbers: NDArray[np.uint16], depth_m: NDArray[np.float32], stamp_ns: int
    ) -> tuple[NDArray[np.uint16], tuple[Detection, ...]]:
        """Return the instance image (h, w) of what was detected, and the detections that number into it.

        numbers: (h, w) of the items in truth. depth_m: (h, w) exact.
        """
        labels = np.zeros_like(numbers)
        found: list[Detection] = []
        held = self._simulation.in_hand()
        for number in np.unique(numbers):
            item_id = self._named.get(int(number))
            if item_id is None or item_id == held or number == ROBOT:
                continue
            mask = numbers == number
            if self._is_missed(mask, depth_m):
                continue
            mask = self._ragged(mask)
            instance = len(found) + 1
            labels[mask] = instance
            states = sorted(self._switches.states(item_id))
            found.append(
                Detection(
                    self._scores(self._simulation.items[item_id].class_name),
                    self._box(mask),
                    instance,
                    states=tuple(StateBelief(state, _STATE_PROBABILITY, stamp_ns) for state in states),
                )
            )
        for _ in range(int(self._rng.poisson(self._noise.false_positive_rate))):
            found.append(self._false_report(labels, len(found) + 1))
        # A later mask may have covered an earlier one.
        shown = set(np.unique(labels).tolist())
        return labels, tuple(one for one in found if one.instance in shown)

    def _is_missed(self, mask: NDArray[np.bool_], depth_m: NDArray[np.float32]) -> bool:
        noise = self._noise
        if int(mask.sum()) < max(noise.min_pixels, 1) or float(np.median(depth_m[mask])) > noise.max_range_m:
            return True
        return bool(self._rng.random() < noise.miss_probability)

    def _ragged(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        edge = self._noise.mask_edge_px
        change = int(self._rng.integers(-edge, edge + 1))
        if change == 0:
            return mask
        kernel = np.ones((2 * abs(change) + 1,) * 2, np.uint8)
        whole = mask.astype(np.uint8)
        changed = np.asarray(cv2.dilate(whole, kernel) if change > 0 else cv2.erode(whole, kernel)) > 0
        return changed if changed.any() else mask

    def _scores(self, class_name: str) -> dict[str, float]:
        noise = self._noise
        score = float(np.clip(self._rng.normal(noise.score_mean, noise.score_sigma), 0.05, 1.0))
        other = self._other.get(class_name)
        if other is None or noise.class_confusion_probability == 0.0:
            return {class_name: score}
        confused = self._rng.random() < noise.class_confusion_probability
        first, second = (other, class_name) if confused else (class_name, other)
        return {first: score, second: 0.5 * (1.0 - score)}

    def _box(self, mask: NDArray[np.bool_]) -> tuple[float, float, float, float]:
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        noise = self._rng.normal(size=4) * self._noise.box_sigma_px
        left, top = columns[0] + noise[0], rows[0] + noise[1]
        right, bottom = max(columns[-1] + 1 + noise[2], left + 1.0), max(rows[-1] + 1 + noise[3], top + 1.0)
        return float(left), float(top), float(right), float(bottom)

    def _false_report(self, labels: NDArray[np.uint16], instance: int) -> Detection:
        height, width = labels.shape
        wide, high = (int(value) for value in self._rng.integers(*_FALSE_SIZE_PX, size=2))
        left, top = int(self._rng.integers(0, width - wide)), int(self._rng.integers(0, height - high))
        labels[top : top + high, left : left + wide] = instance
        scores = {str(self._rng.choice(self._movable)): float(self._rng.uniform(0.3, 0.7))}
        return Detection(scores, (float(left), float(top), float(left + wide), float(top + high)), instance)
