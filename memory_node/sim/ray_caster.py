"""Casts rays into the home as it is now, as triangles, with Open3D's RaycastingScene: no OpenGL, no display."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import Pose
from memory_node.domain.states import ObjectState
from memory_node.sim.layout import WALL_THICKNESS_M, Layout
from memory_node.sim.shapes import Look, Mesh, block, joined, shape_mesh
from memory_node.sim.thing import Thing
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
