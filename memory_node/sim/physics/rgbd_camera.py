"""The head camera: colour, depth and instances by MuJoCo's renderer (EGL, or OSMesa by MUJOCO_GL=osmesa)."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.sim.physics.fetch import CAMERA
from memory_node.sim.physics.simulation import Simulation

WIDTH, HEIGHT = 640, 480
CAMERA_BODY = "head_camera_rgb_optical_frame"
ROBOT = 65535
Image = NDArray[np.uint8]


class HeadCamera:
    """Takes pictures. Made and used by one thread: that is what an OpenGL context is bound to.

    Raises:
        ResourceMissingError: there is no OpenGL to render with.
    """

    def __init__(self, simulation: Simulation, width: int = WIDTH, height: int = HEIGHT) -> None:
        self._simulation = simulation
        model = simulation.model
        try:
            self._renderer = mujoco.Renderer(model, height, width)
        except Exception as error:  # each backend has its own errors for a library that is not there
            message = (
                f"no OpenGL to render with (apt-get install libegl1 libgl1-mesa-dri, or MUJOCO_GL=osmesa): {error}"
            )
            raise ResourceMissingError(message) from error
        self._camera = model.camera(CAMERA).id
        focal = 0.5 * height / np.tan(0.5 * np.radians(float(model.cam_fovy[self._camera])))
        self.intrinsics = Intrinsics(focal, focal, 0.5 * (width - 1), 0.5 * (height - 1), width, height)
        self.numbers: Mapping[str, int] = {item_id: index + 1 for index, item_id in enumerate(simulation.items)}
        bodies = model.geom_bodyid
        self._number_of_geom = np.zeros(model.ngeom + 1, np.uint16)
        for geom in range(model.ngeom):
            body = int(bodies[geom])
            item_id = simulation.item_of_body.get(body)
            self._number_of_geom[geom] = (
                ROBOT if body in simulation.robot_bodies else self.numbers.get(item_id or "", 0)
            )

    def pose(self) -> Pose:
        """Return home_T_camera: the optical frame, z ahead, x right, y down."""
        return self._simulation.body_pose(CAMERA_BODY)

    def render(self) -> tuple[Image, NDArray[np.float32], NDArray[np.uint16]]:
        """Return colour (h, w, 3), exact depth (h, w) in metres, and numbers of items (h, w); ROBOT is the robot."""
        renderer = self._renderer
        with self._simulation.lock:
            renderer.update_scene(self._simulation.data, self._camera)
        color = renderer.render().copy()
        renderer.enable_depth_rendering()
        depth_m = renderer.render().copy()
        renderer.disable_depth_rendering()
        renderer.enable_segmentation_rendering()
        segments = renderer.render()
        renderer.disable_segmentation_rendering()
        is_geom = segments[..., 1] == int(mujoco.mjtObj.mjOBJ_GEOM)
        geoms = np.where(is_geom, segments[..., 0], len(self._number_of_geom) - 1)
        return color, depth_m.astype(np.float32), self._number_of_geom[geoms]

    def close(self) -> None:
        """Let go of OpenGL."""
        self._renderer.close()
