"""The noise of the simulated sensors: the section `noise` of the home node's parameters."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from memory_node.domain.parameters import Parameters

EDGE_STEP_M = 0.05


class DetectionNoise(Parameters):
    """What goes wrong in the camera and the detector; the defaults are a consumer RGB-D camera and a good detector."""

    # depth: standard deviation = depth_sigma_m_at_1m * (distance / 1 m) ** depth_sigma_growth
    depth_sigma_m_at_1m: float = Field(default=0.0015, ge=0.0, le=1.0, description="depth noise of one pixel at 1 m")
    depth_sigma_growth: float = Field(
        default=2.0,
        ge=0.0,
        le=4.0,
        description="power of the distance that it grows with; 2: stereo and structured light",
    )
    depth_edge_loss: float = Field(
        default=0.5, ge=0.0, le=1.0, description="share of the pixels on a depth edge that have no return"
    )
    depth_max_m: float = Field(default=5.0, ge=0.0, le=100.0, description="range of the depth camera")
    # detections, for each object and frame
    min_pixels: int = Field(default=80, ge=0, le=1_000_000, description="pixels below which a thing is never detected")
    max_range_m: float = Field(default=4.0, ge=0.0, le=100.0, description="range of the detector")
    miss_probability: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        description="probability that an object in view is not reported",
    )
    false_positive_rate: float = Field(
        default=0.02, ge=0.0, le=100.0, description="false reports in each frame, on average"
    )
    class_confusion_probability: float = Field(
        default=0.04, ge=0.0, le=1.0, description="probability that an object is reported as another, alike class"
    )
    score_mean: float = Field(default=0.85, ge=0.0, le=1.0, description="mean score of a detection")
    score_sigma: float = Field(
        default=0.08,
        ge=0.0,
        le=1.0,
        description="standard deviation of the score of a detection",
    )
    box_sigma_px: float = Field(
        default=1.5,
        ge=0.0,
        le=100.0,
        description="standard deviation of each side of the 2D box",
    )
    mask_edge_px: int = Field(default=1, ge=0, le=20, description="how far masks are wrong at their outline, at most")

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
