"""How each shape of config/home_looks.yaml looks: simple meshes, hollow where things can be inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


BOARD_M = 0.02
LEG_M = 0.05
# Seats wider than this have cushions and arms, the others legs.
UPHOLSTERED_HALF_M = 0.3
METAL = np.array([0.70, 0.71, 0.73])


def shape_mesh(shape: str, look: Look) -> Mesh:
    """Return the mesh of a shape about its middle."""
    return SHAPES[shape](look)


def _box(look: Look) -> Mesh:
    return look.part((-1, -1, -1), (1, 1, 1))


def _ellipsoid(look: Look) -> Mesh:
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 10)
    return look.turned([(float(np.cos(a)), 0.5 + 0.5 * float(np.sin(a))) for a in angles])


def _cylinder(look: Look) -> Mesh:
    return look.turned([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])


def _bottle(look: Look) -> Mesh:
    return look.turned([(0.0, 0.0), (1.0, 0.02), (1.0, 0.55), (0.35, 0.78), (0.35, 1.0), (0.0, 1.0)])


def _bowl(look: Look) -> Mesh:
    outside = [(0.0, 0.0), (0.55, 0.0), (0.9, 0.5), (1.0, 1.0)]
    inside = [(0.92, 1.0), (0.8, 0.5), (0.45, 0.12), (0.0, 0.12)]
    return joined([look.turned(outside), look.turned([outside[-1], *inside], "light")])


def _mug(look: Look) -> Mesh:
    radius = 0.8
    cup = look.turned([(0.0, 0.0), (radius, 0.0), (radius, 1.0), (0.68, 1.0), (0.68, 0.1), (0.0, 0.1)])
    return joined([cup, look.part((radius * 0.9, -0.15, -0.5), (1.0, 0.15, 0.6), "dark")])


def _plate(look: Look) -> Mesh:
    return look.turned([(0.0, 0.0), (0.7, 0.0), (1.0, 1.0), (0.7, 0.45), (0.0, 0.45)])


def _pan(look: Look) -> Mesh:
    radius = float(look.half[1])
    middle = float(look.half[0]) - radius
    profile = [(0.0, 0.0), (0.85, 0.0), (1.0, 1.0), (0.93, 1.0), (0.8, 0.2), (0.0, 0.2)]
    dish = turned([(r * radius, look.z(h)) for r, h in profile], look.colour, middle=(middle, 0.0))
    handle = block((-look.half[0], -0.012, look.z(0.6)), (middle - 0.9 * radius, 0.012, look.z(1.0)), look.dark)
    return joined([dish, handle])


def _bar(look: Look) -> Mesh:
    return joined([look.part((-1, -0.35, -0.6), (0.3, 0.35, 0.6), "dark"), look.part((0.3, -1, -1), (1, 1, 1))])


def _table(look: Look) -> Mesh:
    x, y, z = look.half
    parts = [block((-x, -y, z - 0.04), (x, y, z), look.colour)]
    for sx in (-1, 1):
        for sy in (-1, 1):
            corner = np.array([sx * (x - LEG_M), sy * (y - LEG_M)])
            parts.append(block((*(corner - 0.5 * LEG_M), -z), (*(corner + 0.5 * LEG_M), z - 0.04), look.dark))
    return joined(parts)


def _counter(look: Look) -> Mesh:
    """Return a work top on two sides and a back: what is under it are things of their own."""
    x, y, z = look.half
    top = block((-x, -y, z - 0.04), (x, y, z), look.colour)
    left = block((-x, y - BOARD_M, -z), (x - 0.02, y, z - 0.04), look.dark)
    right = block((-x, -y, -z), (x - 0.02, -y + BOARD_M, z - 0.04), look.dark)
    back = block((-x, -y, -z), (-x + BOARD_M, y, z - 0.04), look.dark)
    plinth = block((x - 0.08, -y, -z), (x - 0.06, y, -z + 0.08), look.dark)
    return joined([top, left, right, back, plinth])


def _cabinet(look: Look) -> Mesh:
    x, y, z = look.half
    walls = [
        block((-x, -y, -z), (-x + BOARD_M, y, z), look.light),
        block((-x, -y, -z), (x, -y + BOARD_M, z), look.colour),
        block((-x, y - BOARD_M, -z), (x, y, z), look.colour),
        block((-x, -y, -z), (x, y, -z + BOARD_M), look.colour),
        block((-x, -y, z - BOARD_M), (x, y, z), look.colour),
    ]
    for level in look.levels[1:]:
        walls.append(block((-x, -y, look.z(level) - 0.015), (x - 0.03, y, look.z(level)), look.light))
    if look.is_closed:
        # The door stands proud of the body: two faces in one plane would flicker.
        door = block((x - BOARD_M, -y + 0.004, -z + 0.004), (x + 0.003, y - 0.004, z - 0.004), look.light)
        handle = block((x, -0.8 * y, -0.1 * z - 0.05), (x + 0.02, -0.8 * y + 0.015, 0.1 * z + 0.05), METAL)
    else:  # the door stands out from the left side
        door = block((x, y - BOARD_M, -z), (x + 1.8 * y, y, z), look.colour)
        handle = block((x + 1.6 * y, y - 0.05, -0.1), (x + 1.65 * y, y - BOARD_M, 0.1), METAL)
    return joined([*walls, door, handle])


def _rack(look: Look) -> Mesh:
    x, y, z = look.half
    walls = [
        block((-x, -y, -z), (-x + BOARD_M, y, z), look.dark),
        block((-x, -y, -z), (x, -y + BOARD_M, z), look.colour),
        block((-x, y - BOARD_M, -z), (x, y, z), look.colour),
        block((-x, -y, z - BOARD_M), (x, y, z), look.colour),
    ]
    boards = [block((-x, -y, look.z(level) - BOARD_M), (x, y, look.z(level)), look.colour) for level in look.levels]
    return joined(walls + boards)


def _open_box(look: Look, wall_m: float, floor: float) -> list[Mesh]:
    x, y, z = look.half
    bottom = look.z(floor)
    return [
        block((-x, -y, -z), (x, y, bottom), look.dark),
        block((-x, -y, bottom), (-x + wall_m, y, z), look.colour),
        block((x - wall_m, -y, bottom), (x, y, z), look.colour),
        block((-x, -y, bottom), (x, -y + wall_m, z), look.colour),
        block((-x, y - wall_m, bottom), (x, y, z), look.colour),
    ]


def _lid(look: Look) -> list[Mesh]:
    return [look.part((-1, -1, 0.97), (1, 1, 1), "light")] if look.is_closed else []


def _drawer(look: Look) -> Mesh:
    x, y, z = look.half
    front = block((x, -y - 0.01, -z), (x + 0.015, y + 0.01, z + 0.01), look.light)
    handle = block((x + 0.015, -0.06, -0.01), (x + 0.035, 0.06, 0.01), METAL)
    # The furniture around a closed drawer hides what is in it.
    return joined([*_open_box(look, 0.012, 0.08), *_lid(look), front, handle])


def _basin(look: Look) -> Mesh:
    return joined(_open_box(look, 0.02, 0.04))


def _bin(look: Look) -> Mesh:
    return joined(_open_box(look, 0.012, 0.04) + _lid(look))


def _appliance(look: Look) -> Mesh:
    column = look.part((-1, -1, -1), (-0.3, 1, 1))
    return joined(
        [column, look.part((-1, -1, -1), (1, 1, -0.78), "dark"), look.part((-1, -1, 0.35), (0.9, 1, 1), "light")]
    )


def _seat(look: Look) -> Mesh:
    level = 2.0 * look.levels[0] - 1.0
    seat = look.part((-0.95, -0.9, level - 0.3), (1, 0.9, level))
    parts = [seat, look.part((-1, -0.95, -0.9), (-0.72, 0.95, 1), "dark")]
    if look.half[1] > UPHOLSTERED_HALF_M:
        parts.append(look.part((-1, -0.95, -0.9), (0.95, 0.95, level - 0.3), "dark"))
        parts += [look.part((-1, -1, -0.9), (1, -0.84, level + 0.25), "dark")]
        parts += [look.part((-1, 0.84, -0.9), (1, 1, level + 0.25), "dark")]
        return joined(parts)
    for x in (-0.85, 0.9):
        for y in (-0.8, 0.8):
            parts.append(look.part((x - 0.08, y - 0.08, -1), (x + 0.08, y + 0.08, level - 0.3), "dark"))
    return joined(parts)


def _bed(look: Look) -> Mesh:
    level = 2.0 * look.levels[0] - 1.0
    return joined(
        [
            look.part((-1, -1, -0.8), (1, 1, -0.1), "dark"),
            look.part((-0.95, -0.98, -0.1), (0.98, 0.98, level)),
            look.part((-1, -1, -1), (-0.95, 1, 1), "dark"),
        ]
    )


def _lamp(look: Look) -> Mesh:
    bright = np.array([1.0, 0.97, 0.80]) if look.is_on else look.colour
    x, y = float(look.half[0]), float(look.half[1])
    shade = turned([(0.55, look.z(1.0)), (1.0, look.z(0.68))], bright, (x, y))
    pole = look.turned([(0.0, 0.02), (0.07, 0.02), (0.07, 0.95), (0.0, 0.95)], "dark")
    return joined([shade, pole, look.turned([(0.0, 0.0), (0.6, 0.0), (0.6, 0.04), (0.0, 0.04)], "dark")])


def _faucet(look: Look) -> Mesh:
    return joined(
        [
            look.part((-1, -0.5, -1), (-0.7, 0.5, 1)),
            look.part((-1, -0.4, 0.7), (1, 0.4, 1)),
            look.part((0.8, -0.3, 0.3), (1, 0.3, 0.7)),
        ]
    )


def _panel(look: Look) -> Mesh:
    frame = look.part((-1, -1, -1), (0.6, 1, 1), "dark")
    return joined([frame, look.part((0.6, -0.92, -0.9), (1, 0.92, 0.9), "light" if look.is_on else "colour")])


def _plant(look: Look) -> Mesh:
    pot = turned(
        [(0.0, look.z(0)), (0.55, look.z(0)), (0.75, look.z(0.4)), (0.0, look.z(0.4))],
        (0.62, 0.36, 0.24),
        (float(look.half[0]),) * 2,
    )
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 7)
    return joined([pot, look.turned([(float(np.cos(a)), 0.68 + 0.32 * float(np.sin(a))) for a in angles])])


def _person(look: Look) -> Mesh:
    lap = 2.0 * look.levels[0] - 1.0
    skin = (0.86, 0.68, 0.56)
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 7)
    x, y, z = (float(value) for value in look.half)
    radius = 0.105
    head = turned(
        [(radius * float(np.cos(a)), z - 0.12 + 0.12 * float(np.sin(a))) for a in angles], skin, middle=(-0.5 * x, 0.0)
    )
    torso = block((-0.85 * x, -0.75 * y, look.z(look.levels[0])), (-0.1 * x, 0.75 * y, z - 0.24), look.colour)
    legs = look.part((-0.9, -0.7, lap - 0.35), (1, 0.7, lap), "dark")
    return joined([head, torso, legs, look.part((0.6, -0.7, -1), (1, 0.7, lap - 0.35), "dark")])


def _toilet(look: Look) -> Mesh:
    tank = look.part((-1, -0.95, -0.1), (-0.5, 0.95, 1))
    radius = float(look.half[1])
    middle = float(look.half[0]) - 1.1 * radius
    seat = turned(
        [
            (0.6, look.z(0)),
            (0.6, look.z(0.25)),
            (1.0, look.z(0.48)),
            (0.75, look.z(0.48)),
            (0.5, look.z(0.35)),
            (0.0, look.z(0.3)),
        ],
        look.colour,
        (1.1 * radius, radius),
        (middle, 0.0),
    )
    return joined([tank, seat])


def _laptop(look: Look) -> Mesh:
    base = look.part((-1, -1, -1), (1, 1, -0.86))
    return joined(
        [
            base,
            look.part((-1, -1, -0.86), (-0.88, 1, 1), "dark"),
            look.part((-0.88, -0.92, -0.75), (-0.85, 0.92, 0.92), "light" if look.is_on else "dark"),
        ]
    )


_DRAWERS: tuple[Callable[[Look], Mesh], ...] = (
    *(_box, _ellipsoid, _cylinder, _bottle, _bowl, _mug, _plate, _pan, _bar, _table, _counter, _cabinet, _rack),
    *(_drawer, _basin, _bin, _appliance, _seat, _bed, _lamp, _faucet, _panel, _plant, _person, _toilet, _laptop),
)
# Shapes by name: that of the function that draws it.
SHAPES: dict[str, Callable[[Look], Mesh]] = {draw.__name__.removeprefix("_"): draw for draw in _DRAWERS}
SHAPES |= {"board": _box, "sphere": _ellipsoid}
