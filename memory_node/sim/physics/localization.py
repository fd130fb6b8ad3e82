"""Where the robot believes that it is: odometry that drifts, and a map that corrects it as SLAM does."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.sim.body_noise import LocalizationNoise


class Localization:
    """Integrates the base's true motion with errors; its poses are the robot's beliefs.

    Args:
        start: home_T_base at the start, where odometry begins; map and home are one frame.
        noise: the errors.
        rng: draws them.
    """

    def __init__(self, start: Pose, noise: LocalizationNoise, rng: np.random.Generator) -> None:
        self._noise = noise
        self._rng = rng
        # (x, y, yaw) each: followed many times a second, so without the algebra of poses.
        self._true = self._odometry = _planar(start)
        self._map_T_odom = np.zeros(3)
        self._way_m = self._turn_rad = np.inf

    def follow(self, home_T_base: Pose) -> None:
        """Take in where the base truly is now."""
        now = _planar(home_T_base)
        step = _compose(_inverse(self._true), now)
        self._true = now
        way_m, turn_rad = float(np.hypot(step[0], step[1])), abs(wrap_angle(step[2]))
        noise = self._noise
        # A random walk: the variance grows with the way.
        along = 1.0 + self._rng.normal() * noise.drift_share / np.sqrt(max(way_m, 1e-4))
        turned = step[2] + self._rng.normal() * noise.turn_drift_share * np.sqrt(turn_rad)
        self._odometry = _compose(self._odometry, np.array([step[0] * along, step[1] * along, turned]))
        self._way_m += way_m
        self._turn_rad += turn_rad
        if self._way_m >= noise.correct_every_m or self._turn_rad >= noise.correct_every_rad:
            self._correct()

    @property
    def odom_T_base(self) -> Pose:  # noqa: N802 - how transforms are written
        """Where odometry alone says that the base is."""
        return Pose.planar(*self._odometry.tolist())

    @property
    def map_T_odom(self) -> Pose:  # noqa: N802 - how transforms are written
        """The map's correction of odometry."""
        return Pose.planar(*self._map_T_odom.tolist())

    @property
    def map_T_base(self) -> Pose:  # noqa: N802 - how transforms are written
        """Where the robot believes that its base is."""
        return Pose.planar(*_compose(self._map_T_odom, self._odometry).tolist())

    def _correct(self) -> None:
        """Correct the pose by the map, with a new error that stays until the next correction."""
        self._way_m = self._turn_rad = 0.0
        noise = self._noise
        error = self._rng.normal(size=3) * [noise.map_sigma_m, noise.map_sigma_m, noise.map_sigma_rad]
        self._map_T_odom = _compose(self._true + error, _inverse(self._odometry))


def _planar(pose: Pose) -> FloatArray:
    return np.array([*pose.position[:2], pose.yaw_rad])


def _compose(one: FloatArray, other: FloatArray) -> FloatArray:
    cos, sin = np.cos(one[2]), np.sin(one[2])
    x, y = one[0] + cos * other[0] - sin * other[1], one[1] + sin * other[0] + cos * other[1]
    return np.array([x, y, one[2] + other[2]])


def _inverse(one: FloatArray) -> FloatArray:
    cos, sin = np.cos(one[2]), np.sin(one[2])
    return np.array([-cos * one[0] - sin * one[1], sin * one[0] - cos * one[1], -one[2]])
