"""The noise of the simulated body's sensors: the section `noise` of the body node's parameters."""

from __future__ import annotations

from pydantic import Field

from memory_node.domain.parameters import Parameters
from memory_node.sim.noise import DetectionNoise


class LocalizationNoise(Parameters):
    """Errors of odometry and map."""

    drift_share: float = Field(
        default=0.02,
        ge=0.0,
        le=1.0,
        description="standard deviation of odometry's error along 1 m, as a share",
    )
    turn_drift_share: float = Field(
        default=0.02,
        ge=0.0,
        le=1.0,
        description="standard deviation of its heading's error after 1 rad (rad)",
    )
    map_sigma_m: float = Field(default=0.008, ge=0.0, le=1.0, description="error of a corrected position, each axis")
    map_sigma_rad: float = Field(default=0.004, ge=0.0, le=1.0, description="error of a corrected heading")
    # the defaults of nav2_amcl's update_min_d and update_min_a
    correct_every_m: float = Field(default=0.25, ge=0.01, le=100.0, description="way after which the map corrects")
    correct_every_rad: float = Field(default=0.2, ge=0.01, le=100.0, description="turn after which the map corrects")


class BodyNoise(Parameters):
    """What is wrong in camera, detector and localisation."""

    camera: DetectionNoise = DetectionNoise()
    localization: LocalizationNoise = LocalizationNoise()
    camera_dropout: float = Field(default=0.0, ge=0.0, le=1.0, description="share of the pictures that do not come")

    @classmethod
    def none(cls) -> BodyNoise:
        """Return sensors without fault."""
        still = dict.fromkeys(("drift_share", "turn_drift_share", "map_sigma_m", "map_sigma_rad"), 0.0)
        return cls(camera=DetectionNoise.none(), localization=LocalizationNoise(**still))
