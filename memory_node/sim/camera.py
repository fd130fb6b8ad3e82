"""The robot's RGB-D camera, ray-cast with Open3D: colour, depth and instances without OpenGL."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.sim.camera_frame import CameraFrame
from memory_node.sim.noise import DetectionNoise, noisy_depth
from memory_node.sim.ray_caster import RayCaster
from memory_node.sim.simulated_detector import SimulatedDetector
from memory_node.sim.world import World

# A wide RGB-D camera of the RealSense kind: 79 by 64 degrees.
DEFAULT_INTRINSICS = Intrinsics(385.0, 385.0, 319.5, 239.5, 640, 480)

Rendering = tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint16]]


class Camera:
    """Takes pictures of a home. noise: by default that of a real camera and detector."""

    def __init__(
        self,
        world: World,
        intrinsics: Intrinsics = DEFAULT_INTRINSICS,
        noise: DetectionNoise | None = None,
        seed: int = 0,
    ) -> None:
        self.intrinsics = intrinsics
        self._noise = noise or DetectionNoise()
        self._rng = np.random.default_rng(seed)
        self._caster = RayCaster(world)
        self._detector = SimulatedDetector(world, self._noise, self._rng)
        self._directions = _ray_directions(intrinsics)
        self._world = world
        self._rendered: tuple[tuple[int, bytes], Rendering] | None = None

    def capture(self, map_T_camera: Pose, stamp_ns: int) -> CameraFrame:
        """Return the picture from a pose of the optical frame."""
        color, depth_m, numbers = self.render(map_T_camera)
        instances, detections = self._detector.detect(numbers, depth_m, self._caster.number_of)
        depth_m = noisy_depth(depth_m, self._noise, self._rng)
        return CameraFrame(stamp_ns, map_T_camera, self.intrinsics, color, depth_m, instances, detections)

    def number_of(self, thing_id: str) -> int:
        """Return the number that stands for a thing in `instances`, from 1."""
        return self._caster.number_of(thing_id)

    def render(self, map_T_camera: Pose) -> Rendering:
        """Return colour (h, w, 3), exact depth (h, w) in metres (inf = nothing) and things' numbers (h, w), read-only.

        While neither home nor camera moves, the last picture is returned again.
        """
        key = (self._world.revision, map_T_camera.matrix.tobytes())
        if self._rendered is None or self._rendered[0] != key:
            rendering = self._cast(map_T_camera)
            for image in rendering:
                image.setflags(write=False)
            self._rendered = key, rendering
        return self._rendered[1]

    def _cast(self, map_T_camera: Pose) -> Rendering:
        rotation = map_T_camera.matrix[:3, :3].astype(np.float32)
        rays = np.empty((*self._directions.shape[:2], 6), dtype=np.float32)
        rays[..., :3] = map_T_camera.position
        rays[..., 3:] = self._directions @ rotation.T
        return self._caster.cast(rays)


def _ray_directions(intrinsics: Intrinsics) -> NDArray[np.float32]:
    """Return (h, w, 3) rays of the optical frame with z = 1, so that the ray parameter is depth."""
    columns, rows = np.meshgrid(np.arange(intrinsics.width), np.arange(intrinsics.height))
    x = (columns - intrinsics.cx) / intrinsics.fx
    y = (rows - intrinsics.cy) / intrinsics.fy
    return np.stack([x, y, np.ones_like(x)], axis=-1).astype(np.float32)
