"""The noise of the simulated sensors: the section `noise` of the home node's and the body's parameters."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.parameters import Parameters, parameter

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
