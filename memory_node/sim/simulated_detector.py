"""The noise of the simulated sensors, and detections as a trained detector would report them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.parameters import Parameters, parameter
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.perception.detection import Detection

EDGE_STEP_M = 0.05


class DetectionNoise(Parameters):
    """What goes wrong in the camera and the detector; the defaults are a consumer RGB-D camera and a good detector."""

    # depth: standard deviation = depth_sigma_m_at_1m * (distance / 1 m) ** depth_sigma_growth
    depth_sigma_m_at_1m: float = parameter(0.0015, "depth noise of one pixel at 1 m", 0.0, 1.0)
    depth_sigma_growth: float = parameter(
        2.0, "power of the distance that it grows with; 2: stereo and structured light", 0.0, 4.0
    )
    depth_edge_loss: float = parameter(0.5, "share of the pixels on a depth edge that have no return", 0.0, 1.0)
    depth_max_m: float = parameter(5.0, "range of the depth camera", 0.0, 100.0)
    # detections, for each object and frame
    min_pixels: int = parameter(80, "pixels below which a thing is never detected", 0, 1_000_000)
    max_range_m: float = parameter(4.0, "range of the detector", 0.0, 100.0)
    miss_probability: float = parameter(0.05, "probability that an object in view is not reported", 0.0, 1.0)
    false_positive_rate: float = parameter(0.02, "false reports in each frame, on average", 0.0, 100.0)
    class_confusion_probability: float = parameter(
        0.04, "probability that an object is reported as another, alike class", 0.0, 1.0
    )
    score_mean: float = parameter(0.85, "mean score of a detection", 0.0, 1.0)
    score_sigma: float = parameter(0.08, "standard deviation of the score of a detection", 0.0, 1.0)
    box_sigma_px: float = parameter(1.5, "standard deviation of each side of the 2D box", 0.0, 100.0)
    mask_edge_px: int = parameter(1, "how far masks are wrong at their outline, at most", 0, 20)

    @classmethod
    def none(cls) -> DetectionNoise:
        """Return sensors without fault, but for a camera's range and resolution."""
        kept = ("depth_max_m", "min_pixels", "max_range_m", "score_mean")
        return cls.of({"score_mean": 1.0, **{name: 0 for name in cls.model_fields if name not in kept}})


def noisy_depth(depth_m: NDArray[np.float32], noise: DetectionNoise, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a depth image (height, width) in metres as a real camera would give it; NaN is no return."""
    far = ~(depth_m < noise.depth_max_m)
    depth = np.where(far, np.float32(0.0), depth_m)
    if noise.depth_edge_loss > 0.0:
        # A depth edge is where the highest and the lowest neighbour are apart.
        kernel = np.ones((3, 3), np.uint8)
        step = cv2.dilate(depth, kernel) - cv2.erode(depth, kernel)
        far |= (step > EDGE_STEP_M) & (rng.random(depth.shape, dtype=np.float32) < noise.depth_edge_loss)
    if noise.depth_sigma_m_at_1m > 0.0:
        sigma = noise.depth_sigma_m_at_1m * depth**noise.depth_sigma_growth
        depth = depth + sigma.astype(np.float32) * rng.standard_normal(depth.shape, dtype=np.float32)
    return np.where(far, np.float32(np.nan), depth).astype(np.float32)


class LocalizationNoise(Parameters):
    """Errors of odometry and map."""

    drift_share: float = parameter(0.02, "standard deviation of odometry's error along 1 m, as a share", 0.0, 1.0)
    turn_drift_share: float = parameter(0.02, "standard deviation of its heading's error after 1 rad (rad)", 0.0, 1.0)
    map_sigma_m: float = parameter(0.008, "error of a corrected position, each axis", 0.0, 1.0)
    map_sigma_rad: float = parameter(0.004, "error of a corrected heading", 0.0, 1.0)
    # the defaults of nav2_amcl's update_min_d and update_min_a
    correct_every_m: float = parameter(0.25, "way after which the map corrects", 0.01, 100.0)
    correct_every_rad: float = parameter(0.2, "turn after which the map corrects", 0.01, 100.0)


class BodyNoise(Parameters):
    """What is wrong in camera, detector and localisation."""

    camera: DetectionNoise = DetectionNoise()
    localization: LocalizationNoise = LocalizationNoise()
    camera_dropout: float = parameter(0.0, "share of the pictures that do not come", 0.0, 1.0)

    @classmethod
    def none(cls) -> BodyNoise:
        """Return sensors without fault."""
        still = dict.fromkeys(("drift_share", "turn_drift_share", "map_sigma_m", "map_sigma_rad"), 0.0)
        return cls(camera=DetectionNoise.none(), localization=LocalizationNoise(**still))


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
