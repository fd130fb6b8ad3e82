"""The robot's body in the home: where its base stands and what moves with its hand."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from memory_node.domain.geometry import Pose
from memory_node.sim.robot_config import RobotConfig
from memory_node.sim.world import World


class Body:
    """A mobile base with one arm; the held thing follows the hand."""

    def __init__(self, world: World, config: RobotConfig) -> None:
        self._world = world
        self._config = config
        self.pose = world.layout.start

    def move(self, pose: Pose) -> None:
        """Bring the base to a planar pose, with all that the hand holds."""
        with self._world.lock:
            self.pose = pose
            held = self._world.held
            if held is not None:
                self._world.move(held, self.hand_position(), pose.yaw_rad)

    def hand_position(self) -> np.ndarray:
        """Return the middle (3,) of the hand in the map frame."""
        ahead = np.array([self._config.hand_ahead_m, 0.0, self._config.hand_height_m])
        return np.asarray(self.pose.apply(ahead))

    @property
    def camera(self) -> Pose:
        """The camera's optical frame in the map: z forward and down by the pitch, x right, y down."""
        base_T_camera = Pose(
            np.array([0.1, 0.0, self._config.camera_height_m]), _optical(self._config.camera_pitch_rad)
        )
        return self.pose @ base_T_camera


def _optical(pitch_rad: float) -> np.ndarray:
    """Return the quaternion of an optical frame that looks along x and down by `pitch_rad` (REP-103)."""
    body_R_optical = Rotation.from_matrix([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    return np.asarray((Rotation.from_euler("y", pitch_rad) * body_R_optical).as_quat())
