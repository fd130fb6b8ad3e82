"""The error of a simulated localiser stays within what was asked."""

import numpy as np

from benchmarks.scene_home import LocalisationNoise, NoisyLocalisation
from memory_node.domain.geometry import Pose


def test_localisation_drift_stays_bounded() -> None:
    noise = LocalisationNoise()
    localisation = NoisyLocalisation(noise, seed=1)
    errors = [
        np.linalg.norm(localisation.believed(Pose.planar(0.1 * step, 0.0, 0.0)).position[:2] - [0.1 * step, 0.0])
        for step in range(3000)
    ]
    assert max(errors) < noise.drift_limit_m + 6.0 * noise.pose_sigma_m
    assert np.mean(errors[-500:]) > 0.5 * noise.pose_sigma_m
