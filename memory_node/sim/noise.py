"""The noise of the simulated sensors, as config/noise.yaml declares it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.resources import resource_path
from memory_node.domain.yaml_1_2 import read_yaml

EDGE_STEP_M = 0.05


@dataclass(frozen=True)
class DetectionNoise:
    """What goes wrong between the world and the memory; each key is explained in config/noise.yaml."""

    depth_sigma_m_at_1m: float
    depth_sigma_growth: float
    depth_edge_loss: float
    depth_max_m: float
    min_pixels: int
    max_range_m: float
    miss_probability: float
    false_positive_rate: float
    class_confusion_probability: float
    score_mean: float
    score_sigma: float
    box_sigma_px: float
    mask_edge_px: int
    pose_sigma_m: float
    pose_sigma_rad: float
    drift_sigma_m_per_m: float
    drift_sigma_rad_per_m: float
    drift_limit_m: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not np.isfinite(value) or value < 0.0:
                raise InvalidValueError(f"noise: {field.name}: expected a number from 0, got {value}")
        for name in ("depth_edge_loss", "miss_probability", "class_confusion_probability", "score_mean"):
            if getattr(self, name) > 1.0:
                raise InvalidValueError(f"noise: {name}: expected 0 to 1, got {getattr(self, name)}")

    @classmethod
    def load(cls, path: Path | None = None) -> DetectionNoise:
        """Return the noise of a YAML file, by default config/noise.yaml.

        Raises:
            InvalidValueError: a key is missing, unknown or out of range.
        """
        declared = read_yaml(path or resource_path("config/noise.yaml"))
        names = {field.name for field in fields(cls)}
        if set(declared) != names:
            raise InvalidValueError(f"noise: missing or unknown keys {sorted(names ^ set(declared))}")
        return cls(**declared)

    @classmethod
    def none(cls) -> DetectionNoise:
        """Return sensors without fault, but for a camera's range and resolution."""
        shipped = cls.load()
        kept = {"depth_max_m", "min_pixels", "max_range_m"}
        quiet = {field.name: type(getattr(shipped, field.name))(0) for field in fields(cls) if field.name not in kept}
        return cls(**{name: getattr(shipped, name) for name in kept}, **{**quiet, "score_mean": 1.0})


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


class NoisyLocalisation:
    """Where the robot believes that it is: white noise, and drift that grows with the way and stays bounded."""

    def __init__(self, noise: DetectionNoise, seed: int = 0) -> None:
        self._noise = noise
        self._rng = np.random.default_rng(seed)
        self._drift: FloatArray = np.zeros(3)
        self._last: FloatArray | None = None

    def believed(self, truth: Pose) -> Pose:
        """Return the estimate of a planar pose."""
        noise = self._noise
        way = 0.0 if self._last is None else float(np.linalg.norm(truth.position[:2] - self._last))
        self._last = truth.position[:2].copy()
        spread = np.array([noise.drift_sigma_m_per_m, noise.drift_sigma_m_per_m, noise.drift_sigma_rad_per_m])
        self._drift = self._drift + self._rng.normal(size=3) * spread * np.sqrt(way)
        length = float(np.linalg.norm(self._drift[:2]))
        if length > noise.drift_limit_m:
            self._drift[:2] *= noise.drift_limit_m / length
        white = self._rng.normal(size=3) * np.array([noise.pose_sigma_m, noise.pose_sigma_m, noise.pose_sigma_rad])
        x, y, yaw = np.array([*truth.position[:2], truth.yaw_rad]) + self._drift + white
        return Pose.planar(float(x), float(y), float(yaw), float(truth.position[2]))
