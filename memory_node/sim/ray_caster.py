"""Casts rays into the home as it is now, with Open3D's RaycastingScene: no OpenGL, no display."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import ResourceMissingError
from memory_node.sim.scene_mesh import BACKGROUND, SceneMesh, SceneMesher
from memory_node.sim.world import World

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
        self._mesher = SceneMesher(world)
        self._revision = -1
        self._scene: SceneMesh
        self._caster: Any

    def number_of(self, thing_id: str) -> int:
        """Return the number that stands for a thing in what `cast` returns, from 1."""
        return self._mesher.number_of(thing_id)

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
        numbers = np.where(hit, self._scene.owners[triangles], np.uint16(BACKGROUND))
        color = self._shade(triangles, hits["primitive_normals"].numpy(), rays[..., 3:])
        color[~hit] = SKY
        return color, along, numbers

    def _follow_world(self) -> None:
        if self._revision == self._world.revision:
            return
        with self._world.lock:
            self._revision = self._world.revision
            self._scene = self._mesher.build()
        # Embree builds the few thousand triangles of a home anew in milliseconds; keeping a static part saves nothing.
        tensor = self._open3d.core.Tensor
        self._caster = self._open3d.t.geometry.RaycastingScene()
        self._caster.add_triangles(tensor(self._scene.mesh.vertices), tensor(self._scene.mesh.triangles))

    def _shade(
        self, triangles: NDArray[np.integer[Any]], normals: NDArray[np.float32], directions: NDArray[np.float32]
    ) -> NDArray[np.uint8]:
        facing = np.einsum("ijk,ijk->ij", normals, directions)
        # Thin walls are seen from both sides: light falls on the side that is looked at.
        lit = np.maximum(-np.sign(facing) * (normals @ LIGHT_DIRECTION), 0.0)
        headlight = np.abs(facing) / np.sqrt(np.einsum("ijk,ijk->ij", directions, directions))
        brightness = np.float32(AMBIENT) + np.float32(DIFFUSE) * lit + np.float32(HEADLIGHT) * headlight
        shaded = self._scene.mesh.colours[triangles] * brightness[..., None]
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
