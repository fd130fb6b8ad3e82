"""The head camera by MuJoCo's renderer (EGL, or OSMesa by MUJOCO_GL=osmesa), and a film of the robot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.sim.physics.model import CAMERA
from memory_node.sim.physics.simulation import Simulation

WIDTH, HEIGHT = 640, 480
FILM_WIDTH, FILM_HEIGHT = 480, 360
CAMERA_BODY = "head_camera_rgb_optical_frame"
ROBOT = 65535
_MOST_GEOMS = 2000
# Where an onlooker stands, from behind the robot to its left.
_ONLOOKER_DEG = -35.0
Image = NDArray[np.uint8]


class HeadCamera:
    """Takes pictures. Made and used by one thread: that is what an OpenGL context is bound to.

    Raises:
        ResourceMissingError: there is no OpenGL to render with.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        model = simulation.model
        try:
            self._gl = mujoco.GLContext(WIDTH, HEIGHT)
            self._gl.make_current()
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except Exception as error:  # each backend has its own errors for a library that is not there
            message = (
                f"no OpenGL to render with (apt-get install libegl1 libgl1-mesa-dri, or MUJOCO_GL=osmesa): {error}"
            )
            raise ResourceMissingError(message) from error
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        # 1 near and 0 far: fine at every distance.
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR.value
        self._scene = mujoco.MjvScene(model, _MOST_GEOMS)
        self._view, self._options = mujoco.MjvCamera(), mujoco.MjvOption()
        self._view.type, self._view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, model.camera(CAMERA).id
        self._shape = (HEIGHT, WIDTH)
        self._near_far_m = float(model.vis.map.znear * model.stat.extent), float(model.vis.map.zfar * model.stat.extent)
        camera = model.camera(CAMERA).id
        focal = 0.5 * HEIGHT / np.tan(0.5 * np.radians(float(model.cam_fovy[camera])))
        self.intrinsics = Intrinsics(focal, focal, 0.5 * (WIDTH - 1), 0.5 * (HEIGHT - 1), WIDTH, HEIGHT)
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
        with self._simulation.lock:
            self._aim(self._view)
        shape = self._shape
        color, codes = np.empty((*shape, 3), np.uint8), np.empty((*shape, 3), np.uint8)
        depth = np.empty(shape, np.float32)
        self._gl.make_current()
        self._render(color, None, by_number=False)
        self._render(codes, depth, by_number=True)
        # OpenGL's first row is the lowest.
        return color[::-1].copy(), self._metres(depth[::-1]), self._items(codes[::-1])

    def onlooker(self) -> Image:
        """Return colour (FILM_HEIGHT, FILM_WIDTH, 3) as seen from behind and above the robot."""
        view = mujoco.MjvCamera()
        view.type = mujoco.mjtCamera.mjCAMERA_FREE
        with self._simulation.lock:
            base = self._simulation.base_pose()
            view.lookat[:] = base.apply(np.array([[0.3, 0.0, 0.7]]))[0]
            view.azimuth = float(np.degrees(base.yaw_rad)) + _ONLOOKER_DEG
            view.elevation, view.distance = -40.0, 2.6
            self._aim(view)
        pixels = np.empty((FILM_HEIGHT, FILM_WIDTH, 3), np.uint8)
        self._gl.make_current()
        self._render(pixels, None, by_number=False)
        return pixels[::-1].copy()

    def _aim(self, view: mujoco.MjvCamera) -> None:
        """Take over the simulation's state as a camera sees it; the simulation is locked."""
        model, data, parts = self._simulation.model, self._simulation.data, mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(model, data, self._options, None, view, parts, self._scene)

    def _render(self, pixels: Image, depth: NDArray[np.float32] | None, by_number: bool) -> None:
        """Draw the scene: lit, or each geom in the colour that codes its number, which is 1 more than its segid."""
        for flag in (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR):
            self._scene.flags[flag] = by_number
        height, width = pixels.shape[:2]
        rect = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(rect, self._scene, self._context)
        mujoco.mjr_readPixels(pixels, depth, rect, self._context)

    def _metres(self, depth: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return metres along the optical axis of what the depth buffer holds."""
        near_m, far_m = self._near_far_m
        return np.asarray(near_m * far_m / (near_m + depth.astype(np.float64) * (far_m - near_m)), np.float32)

    def _items(self, codes: Image) -> NDArray[np.uint16]:
        number_of_code = np.zeros(self._scene.ngeom + 1, np.uint16)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                number_of_code[geom.segid + 1] = self._number_of_geom[geom.objid]
        whole = codes.astype(np.uint32)
        return number_of_code[whole[..., 0] | whole[..., 1] << 8 | whole[..., 2] << 16]

    def close(self) -> None:
        """Let go of OpenGL."""
        self._gl.make_current()
        self._context.free()
        self._gl.free()


# Simulated seconds between two frames, and how much faster the film runs.
FRAME_S, SPEED_UP = 0.5, 4.0


class Film:
    """Writes frames (FILM_HEIGHT, FILM_WIDTH, 3) RGB into an mp4 file, one for each FRAME_S of simulated time at most.

    Raises:
        ResourceMissingError: the file cannot be written there.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        code = cv2.VideoWriter.fourcc(*"mp4v")
        self._writer = cv2.VideoWriter(str(path), code, SPEED_UP / FRAME_S, (FILM_WIDTH, FILM_HEIGHT))
        if not self._writer.isOpened():
            raise ResourceMissingError(f"no film can be written to {path}")
        self._next_s = 0.0

    def is_due(self, time_s: float) -> bool:
        """Return whether a frame is due at a simulated time."""
        return time_s >= self._next_s

    def add(self, frame: Image, time_s: float) -> None:
        """Add the frame of a simulated time."""
        self._next_s = time_s + FRAME_S
        self._writer.write(np.ascontiguousarray(frame[..., ::-1]))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.release()
