"""The robot's RGB-D camera, ray-cast with Open3D: colour, depth and instances without OpenGL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.home.noise import DetectionNoise, noisy_depth
from memory_node.home.scene_mesh import BACKGROUND, SceneMesh, SceneMesher
from memory_node.home.simulated_detector import SimulatedDetector
from memory_node.home.world import World
from memory_node.perception.detection import Detection

# A wide RGB-D camera of the RealSense kind: 79 by 64 degrees.
DEFAULT_INTRINSICS = Intrinsics(385.0, 385.0, 319.5, 239.5, 640, 480)
SKY = np.array([0.80, 0.88, 0.96], dtype=np.float32)
LIGHT_DIRECTION = np.array([0.35, 0.25, 0.90], dtype=np.float32)
AMBIENT, DIFFUSE, HEADLIGHT = 0.38, 0.34, 0.34
# What Open3D's wheel needs of a bare Debian or Ubuntu.
SYSTEM_LIBRARIES = ("libusb-1.0-0", "libgl1", "libegl1", "libx11-6", "libgomp1")


@dataclass(frozen=True, eq=False)
class CameraFrame:
    """One picture.

    map_T_camera: the optical frame (z forward, x right, y down) in truth. color: (h, w, 3) uint8 RGB. depth_m: (h, w)
    float32, NaN = no return. instances: (h, w) uint16, the number that each detection names; 0 = nothing detected.
    """

    stamp_ns: int
    map_T_camera: Pose
    intrinsics: Intrinsics
    color: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    instances: NDArray[np.uint16]
    detections: tuple[Detection, ...]


class Camera:
    """Takes pictures of a home. noisy=False: exact depth, every visible thing detected as what it is."""

    def __init__(
        self,
        world: World,
        intrinsics: Intrinsics = DEFAULT_INTRINSICS,
        noise: DetectionNoise | None = None,
        noisy: bool = True,
        seed: int = 0,
    ) -> None:
        self.intrinsics = intrinsics
        self._world = world
        self._noise = noise or (DetectionNoise.load() if noisy else DetectionNoise.none())
        self._rng = np.random.default_rng(seed)
        self._open3d = _import_open3d()
        self._mesher = SceneMesher(world)
        self._detector = SimulatedDetector(world, self._noise, self._rng)
        self._directions = _ray_directions(intrinsics)
        self._lengths = np.linalg.norm(self._directions, axis=2)
        self._revision = -1
        self._scene: SceneMesh
        self._caster: Any

    def capture(self, map_T_camera: Pose, stamp_ns: int) -> CameraFrame:
        """Return the picture from a pose of the optical frame."""
        color, depth_m, numbers = self.render(map_T_camera)
        instances, detections = self._detector.detect(numbers, depth_m, self._mesher.number_of)
        depth_m = noisy_depth(depth_m, self._noise, self._rng)
        return CameraFrame(stamp_ns, map_T_camera, self.intrinsics, color, depth_m, instances, detections)

    def render(self, map_T_camera: Pose) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint16]]:
        """Return colour (h, w, 3), exact depth (h, w) in metres (inf = nothing) and things' numbers (h, w)."""
        self._follow_world()
        rotation = map_T_camera.matrix[:3, :3].astype(np.float32)
        directions = self._directions @ rotation.T
        rays = np.empty((*directions.shape[:2], 6), dtype=np.float32)
        rays[..., :3] = map_T_camera.position
        rays[..., 3:] = directions
        hits = self._caster.cast_rays(self._open3d.core.Tensor(rays))
        depth_m = hits["t_hit"].numpy()
        hit = np.isfinite(depth_m)
        triangles = np.where(hit, hits["primitive_ids"].numpy(), 0)
        numbers = np.where(hit, self._scene.owners[triangles], np.uint16(BACKGROUND))
        color = self._shade(triangles, hits["primitive_normals"].numpy(), directions)
        color[~hit] = (255.0 * SKY).astype(np.uint8)
        return color, depth_m, numbers

    def _follow_world(self) -> None:
        if self._revision == self._world.revision:
            return
        with self._world.lock:
            self._revision = self._world.revision
            self._scene = self._mesher.build()
        tensor = self._open3d.core.Tensor
        self._caster = self._open3d.t.geometry.RaycastingScene()
        self._caster.add_triangles(tensor(self._scene.mesh.vertices), tensor(self._scene.mesh.triangles))

    def _shade(
        self, triangles: NDArray[np.integer[Any]], normals: NDArray[np.float32], directions: NDArray[np.float32]
    ) -> NDArray[np.uint8]:
        facing = np.einsum("ijk,ijk->ij", normals, directions)
        # Thin walls are seen from both sides: light falls on the side that is looked at.
        lit = np.maximum(-np.sign(facing) * (normals @ LIGHT_DIRECTION), 0.0)
        headlight = np.abs(facing) / self._lengths
        brightness = np.float32(AMBIENT) + np.float32(DIFFUSE) * lit + np.float32(HEADLIGHT) * headlight
        shaded = self._scene.mesh.colours[triangles] * brightness[..., None]
        return (np.minimum(shaded, 1.0) * np.float32(255.0)).astype(np.uint8)


def _ray_directions(intrinsics: Intrinsics) -> NDArray[np.float32]:
    """Return (h, w, 3) rays of the optical frame with z = 1, so that the ray parameter is depth."""
    columns, rows = np.meshgrid(np.arange(intrinsics.width), np.arange(intrinsics.height))
    x = (columns - intrinsics.cx) / intrinsics.fx
    y = (rows - intrinsics.cy) / intrinsics.fy
    return np.stack([x, y, np.ones_like(x)], axis=-1).astype(np.float32)


def _import_open3d() -> Any:
    try:
        import open3d
    except (ImportError, OSError) as error:
        raise ResourceMissingError(
            f"the camera needs Open3D ({error}): pip install 'robot_memory[sim]', "
            f"and on Debian or Ubuntu: apt-get install {' '.join(SYSTEM_LIBRARIES)}"
        ) from error
    return open3d
