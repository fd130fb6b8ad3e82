"""Triangle meshes of simple solids, made of boxes and turned profiles, and what a thing's shape is drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

SEGMENTS = 16
_CUBE = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)], dtype=np.float32)
_CUBE_FACES = np.array(
    [
        [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
        [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
    ],
    dtype=np.uint32,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Mesh:
    """Vertices (n, 3) in metres, triangles (m, 3) and one RGB colour (m, 3), 0 to 1, for each triangle."""

    vertices: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    colours: NDArray[np.float32]

    def moved(self, rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> Mesh:
        """Return the mesh after a rigid transform."""
        return Mesh((self.vertices @ rotation.T + translation).astype(np.float32), self.triangles, self.colours)


def joined(meshes: Iterable[Mesh]) -> Mesh:
    """Return one mesh of many."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    return Mesh(
        np.vstack([part.vertices for part in parts]),
        np.vstack([part.triangles + np.uint32(start) for part, start in zip(parts, starts, strict=True)]),
        np.vstack([part.colours for part in parts]),
    )


def block(low: ArrayLike, high: ArrayLike, colour: ArrayLike) -> Mesh:
    """Return an upright box between two corners."""
    low_corner, high_corner = np.asarray(low, np.float32), np.asarray(high, np.float32)
    vertices = _CUBE * (high_corner - low_corner) + 0.5 * (low_corner + high_corner)
    return Mesh(vertices.astype(np.float32), _CUBE_FACES, _painted(colour, len(_CUBE_FACES)))


def turned(
    profile: Sequence[tuple[float, float]],
    colour: ArrayLike,
    scale: tuple[float, float] = (1.0, 1.0),
    middle: tuple[float, float] = (0.0, 0.0),
) -> Mesh:
    """Return what a profile of (radius, height) makes when turned about z, stretched by `scale` in x and y."""
    angles = np.linspace(0.0, 2.0 * np.pi, SEGMENTS, endpoint=False)
    ring = np.column_stack([np.cos(angles) * scale[0], np.sin(angles) * scale[1]])
    vertices = np.vstack(
        [np.column_stack([radius * ring + middle, np.full(SEGMENTS, height)]) for radius, height in profile]
    )
    faces = []
    for row in range(len(profile) - 1):
        here = row * SEGMENTS + np.arange(SEGMENTS)
        beside = row * SEGMENTS + (np.arange(SEGMENTS) + 1) % SEGMENTS
        faces += [np.column_stack([here, beside, here + SEGMENTS])]
        faces += [np.column_stack([beside, beside + SEGMENTS, here + SEGMENTS])]
    triangles = np.vstack(faces).astype(np.uint32)
    return Mesh(vertices.astype(np.float32), triangles, _painted(colour, len(triangles)))


def _painted(colour: ArrayLike, count: int) -> NDArray[np.float32]:
    return np.tile(np.asarray(colour, dtype=np.float32), (count, 1))


DARK = 0.55
LIGHT = 1.25


@dataclass(frozen=True, eq=False)
class Look:
    """What a shape is drawn from: half sizes (3,) in metres along its own axes, colour (3,) 0 to 1, levels, state."""

    half: NDArray[np.float64]
    colour: NDArray[np.float64]
    levels: tuple[float, ...] = (1.0,)
    is_closed: bool = False
    is_on: bool = False

    @property
    def dark(self) -> NDArray[np.float64]:
        """A darker shade of the colour."""
        return self.colour * DARK

    @property
    def light(self) -> NDArray[np.float64]:
        """A lighter shade of the colour."""
        return np.clip(self.colour * LIGHT, 0.0, 1.0)

    def z(self, fraction: float) -> float:
        """Return the height at a fraction of the whole height."""
        return float(-self.half[2] + 2.0 * fraction * self.half[2])

    def part(self, low: tuple[float, float, float], high: tuple[float, float, float], shade: str = "colour") -> Mesh:
        """Return a block between two corners given as fractions (-1 to 1) of the half sizes."""
        return block(np.array(low) * self.half, np.array(high) * self.half, getattr(self, shade))

    def turned(self, profile: list[tuple[float, float]], shade: str = "colour") -> Mesh:
        """Return a turned profile given as fractions of the half width and of the height."""
        scaled = [(radius, self.z(height)) for radius, height in profile]
        return turned(scaled, getattr(self, shade), (float(self.half[0]), float(self.half[1])))
