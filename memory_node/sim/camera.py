"""The robot's RGB-D camera, ray-cast with Open3D (no OpenGL), and one picture of any simulated camera."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.detection import Detection
from memory_node.sim.noise import DetectionNoise, noisy_depth
from memory_node.sim.ray_caster import RayCaster
from memory_node.sim.simulated_detector import InView, SimulatedDetector
from memory_node.sim.thing import ObjectType
from memory_node.sim.visibility import SEEN_STATES, reported_things
from memory_node.sim.world import World

# Pictures of one view that are taken at the full rate.
SAME_VIEWS = 10
# Real time between two further ones, at least: however fast simulated time runs, they tell nothing new.
STILL_REAL_S = 1.0


class FrameClock:
    """Counts simulated time between pictures.

    Args:
        period_s: between two pictures.
        still_period_s: between two pictures once SAME_VIEWS have shown one view; a lower one than `period_s` has no
            effect.
        speed: simulated seconds in a real one.
    """

    def __init__(self, period_s: float, still_period_s: float, speed: float = 1.0) -> None:
        self._period_s = period_s
        self._still_period_s = max(still_period_s, STILL_REAL_S * speed)
        self._since_s = period_s
        self._view: Hashable = None
        self._shown = 0

    def pass_time(self, seconds: float) -> None:
        """Let simulated time pass."""
        self._since_s += seconds

    def is_due(self, view: Hashable) -> bool:
        """Return whether a picture is to be taken now, which counts as taken. view: equal for equal pictures."""
        if self._since_s < self._period_s:
            return False
        if view != self._view:
            self._view, self._shown = view, 0
        if self._shown >= SAME_VIEWS and self._since_s < self._still_period_s:
            return False
        self._shown += 1
        self._since_s = 0.0
        return True


@dataclass(frozen=True, eq=False)
class CameraFrame:
    """One picture.

    map_T_camera: the optical frame (z forward, x right, y down), in truth or where the robot believes it. color: (h, w,
    3) uint8 RGB. depth_m: (h, w) float32, NaN = no return. instances: (h, w) uint16, the number that each detection
    names; 0 = nothing detected.
    """

    stamp_ns: int
    map_T_camera: Pose
    intrinsics: Intrinsics
    color: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    instances: NDArray[np.uint16]
    detections: tuple[Detection, ...]


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
        types = [one for one in world.types if one.is_named]
        movable = [one.name for one in types if one.can(Property.PICKUPABLE)]
        self._detector = SimulatedDetector(self._noise, self._rng, _alike_classes(types), movable)
        self._directions = _ray_directions(intrinsics)
        self._world = world
        self._rendered: tuple[tuple[int, bytes], Rendering] | None = None

    def capture(self, map_T_camera: Pose, stamp_ns: int) -> CameraFrame:
        """Return the picture from a pose of the optical frame."""
        color, depth_m, numbers = self.render(map_T_camera)
        with self._world.lock:
            things = [
                InView(self.number_of(thing.id), thing.class_name, thing.states & SEEN_STATES)
                for thing in reported_things(self._world, self._world)
            ]
            now_ns = self._world.now_ns
        instances, detections = self._detector.detect(numbers, depth_m, things, now_ns)
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


def _alike_classes(types: list[ObjectType]) -> dict[str, tuple[str, ...]]:
    """Return for every class those that it may be taken for: drawn alike, and both movable or both not."""
    alike = {}
    for one in types:
        others = [
            o.name for o in types if o.looks.shape == one.looks.shape and o.kind.pickupable == one.kind.pickupable
        ]
        alike[one.name] = tuple(dict.fromkeys(name for name in others if name != one.name))
    return alike
