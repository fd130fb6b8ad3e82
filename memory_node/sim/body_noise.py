"""The noise of the simulated body's sensors: the section `noise` of the body node's parameters."""

from __future__ import annotations

from memory_node.domain.parameters import Parameters, parameter
from memory_node.sim.noise import DetectionNoise


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
