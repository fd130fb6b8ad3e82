"""Where a simulated robot believes that it is: not quite where it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose


@dataclass(frozen=True)
class LocalisationNoise:
    """Errors of a localised mobile base.

    pose_sigma_m, pose_sigma_rad: white noise of position and heading in each frame. drift_sigma_m_per_m,
    drift_sigma_rad_per_m: random walk of both for each square root of a metre driven. drift_limit_m: the localiser
    keeps the drift within this.
    """

    pose_sigma_m: float = 0.005
    pose_sigma_rad: float = 0.002
    drift_sigma_m_per_m: float = 0.002
    drift_sigma_rad_per_m: float = 0.0005
    drift_limit_m: float = 0.02


class NoisyLocalisation:
    """Where the robot believes that it is: white noise, and drift that grows with the way and stays bounded."""

    def __init__(self, noise: LocalisationNoise, seed: int = 0) -> None:
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
