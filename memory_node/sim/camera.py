"""The robot's RGB-D camera, ray-cast with Open3D (no OpenGL), and one picture of any simulated camera."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.states import ObjectState
from memory_node.perception.detection import Detection
from memory_node.sim.layout import WALL_THICKNESS_M, Layout
from memory_node.sim.noise import DetectionNoise, noisy_depth
from memory_node.sim.shapes import Look, Mesh, block, joined, shape_mesh
from memory_node.sim.simulated_detector import InView, SimulatedDetector
from memory_node.sim.thing import ObjectType, Thing
from memory_node.sim.visibility import SEEN_STATES, reported_things
from memory_node.sim.world import World

BACKGROUND = 0
WALL_COLOURS = ((0.90, 0.88, 0.84), (0.84, 0.87, 0.88), (0.90, 0.86, 0.80), (0.86, 0.89, 0.85))
FLOOR_COLOURS = ((0.66, 0.62, 0.56), (0.62, 0.46, 0.32), (0.58, 0.54, 0.60), (0.60, 0.66, 0.68))
TINTS = {
    ObjectState.DIRTY: (0.72, 0.62, 0.48),
    ObjectState.COOKED: (0.78, 0.66, 0.52),
    ObjectState.BROKEN: (0.70, 0.70, 0.70),
}
# Broken things lie flat.
BROKEN_HEIGHT = 0.35


def _draw(thing: Thing, tinted: tuple[ObjectState, ...]) -> Mesh:
    colour = np.array(thing.type.looks.colour) / 255.0
    for state in tinted:
        colour = colour * np.array(TINTS[state])
    half = 0.5 * np.array(thing.box.size)
    mesh = shape_mesh(
        thing.type.looks.shape, Look(half, colour, thing.kind.levels, ObjectState.CLOSED in thing.states, thing.is_on)
    )
    if ObjectState.BROKEN in tinted:
        flat = mesh.vertices * np.array([1.0, 1.0, BROKEN_HEIGHT], np.float32)
        flat[:, 2] -= np.float32((1.0 - BROKEN_HEIGHT) * half[2])
        return Mesh(flat, mesh.triangles, mesh.colours)
    return mesh


def _rooms_mesh(layout: Layout) -> Mesh:
    parts = []
    for number, room in enumerate(layout.rooms):
        x0, y0, x1, y1 = room.bounds
        parts.append(block((x0, y0, -0.05), (x1, y1, 0.0), FLOOR_COLOURS[number % len(FLOOR_COLOURS)]))
    half = 0.5 * WALL_THICKNESS_M
    for number, wall in enumerate(layout.walls):
        low = np.minimum(wall.start, wall.end) - half
        high = np.maximum(wall.start, wall.end) + half
        colour = WALL_COLOURS[number % len(WALL_COLOURS)]
        parts.append(block((*low, wall.bottom_m), (*high, wall.top_m), colour))
    return joined(parts)


SKY = np.array([204, 224, 245], dtype=np.uint8)
LIGHT_DIRECTION = np.array([0.35, 0.25, 0.90], dtype=np.float32)
AMBIENT, DIFFUSE, HEADLIGHT = 0.38, 0.34, 0.34
# System libraries that Open3D's wheel needs on a bare Debian or Ubuntu.
SYSTEM_LIBRARIES = ("libusb-1.0-0", "libgl1", "libegl1", "libx11-6", "libudev1", "libidn2-0", "libgomp1")


class RayCaster:
    """Sees the home's meshes; follows what moves in the world by itself.

    Raises:
        ResourceMissingError: Open3D or a library that it needs is not installed.
    """

    def __init__(self, world: World) -> None:
        self._open3d = _import_open3d()
        self._world = world
        self._rooms = _rooms_mesh(world.layout)
        self._shapes: dict[tuple[object, ...], Mesh] = {}  # which are made once
        self._numbers: dict[str, int] = {}
        self._revision = -1
        self._mesh: Mesh  # of the home in the map frame
        self._owners: NDArray[np.uint16]  # (m,) the number of the thing that each triangle belongs to
        self._caster: Any

    def number_of(self, thing_id: str) -> int:
        """Return the number that stands for a thing in what `cast` returns, from 1; it stays with the thing."""
        return self._numbers.setdefault(thing_id, len(self._numbers) + 1)

    def cast(self, rays: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint16]]:
        """Return colours (h, w, 3), ray parameters (h, w) (inf = no hit) and things' numbers (h, w, 0 = room) of rays.

        rays: (h, w, 6) origin and direction in the map frame; the parameter counts in lengths of the direction.
        """
        self._follow_world()
        hits = self._caster.cast_rays(self._open3d.core.Tensor(rays))
        # A copy: Open3D ends a process with status 1 where one of its own arrays is kept until then.
        along = hits["t_hit"].numpy().copy()
        hit = np.isfinite(along)
        triangles = np.where(hit, hits["primitive_ids"].numpy(), 0)
        numbers = np.where(hit, self._owners[triangles], np.uint16(BACKGROUND))
        color = self._shade(triangles, hits["primitive_normals"].numpy(), rays[..., 3:])
        color[~hit] = SKY
        return color, along, numbers

    def _follow_world(self) -> None:
        if self._revision == self._world.revision:
            return
        with self._world.lock:
            self._revision = self._world.revision
            placed = [(self.number_of(thing.id), self._placed(thing)) for thing in self._world]
        owners = [np.full(len(self._rooms.triangles), BACKGROUND, np.uint16)]
        owners += [np.full(len(mesh.triangles), number, np.uint16) for number, mesh in placed]
        self._mesh, self._owners = joined([self._rooms, *(mesh for _, mesh in placed)]), np.concatenate(owners)
        # Embree builds the few thousand triangles of a home anew in milliseconds; keeping a static part saves nothing.
        tensor = self._open3d.core.Tensor
        self._caster = self._open3d.t.geometry.RaycastingScene()
        self._caster.add_triangles(tensor(self._mesh.vertices), tensor(self._mesh.triangles))

    def _placed(self, thing: Thing) -> Mesh:
        tinted = tuple(sorted(thing.states & TINTS.keys()))
        size = tuple(round(float(side), 4) for side in thing.box.size)
        key = (thing.type.name, size, ObjectState.CLOSED in thing.states, thing.is_on, tinted)
        if key not in self._shapes:
            self._shapes[key] = _draw(thing, tinted)
        pose = Pose.planar(thing.box.center[0], thing.box.center[1], thing.box.yaw_rad, thing.box.center[2]).matrix
        return self._shapes[key].moved(pose[:3, :3], pose[:3, 3])

    def _shade(
        self, triangles: NDArray[np.integer[Any]], normals: NDArray[np.float32], directions: NDArray[np.float32]
    ) -> NDArray[np.uint8]:
        facing = np.einsum("ijk,ijk->ij", normals, directions)
        # Thin walls are seen from both sides: light falls on the side that is looked at.
        lit = np.maximum(-np.sign(facing) * (normals @ LIGHT_DIRECTION), 0.0)
        headlight = np.abs(facing) / np.sqrt(np.einsum("ijk,ijk->ij", directions, directions))
        brightness = np.float32(AMBIENT) + np.float32(DIFFUSE) * lit + np.float32(HEADLIGHT) * headlight
        shaded = self._mesh.colours[triangles] * brightness[..., None]
        return (np.minimum(shaded, 1.0) * np.float32(255.0)).astype(np.uint8)


def _import_open3d() -> Any:
    try:
        import open3d
    except (ImportError, OSError) as error:
        raise ResourceMissingError(
            f"pictures of the home need Open3D ({error}): pip install 'robot_memory[sim]', "
            f"and on Debian or Ubuntu: apt-get install {' '.join(SYSTEM_LIBRARIES)}"
        ) from error
    return open3d


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
