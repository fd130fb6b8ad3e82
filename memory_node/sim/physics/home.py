"""The simulated home: furniture as the file has it, and things laid out by a seed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.sim.physics.furniture import (
    Form,
    HomeEntries,
    Item,
    KindEntry,
    Part,
    Rectangle,
    Rgba,
    SurfaceEntry,
    Vector,
    box,
    cylinder,
    ellipsoid,
    make_furniture,
    read_home,
    wall,
)

# What keeps round things from rolling for ever, as MuJoCo's coefficient (m): an apple stops within its own length.
_ROLLING_M = {"round": 0.004, "can": 0.0005}
_WALL_M, _STAVES = 0.006, 12
_CAP_SHARE, _CAP_WIDTH = 0.15, 0.8


def make_thing(class_name: str, kind: KindEntry, rgba: Rgba, at: Vector, yaw_rad: float, support: str) -> Item:
    """Return a thing of a class; at: the middle of its underside; support: the id of what carries it."""
    return Item(
        class_name.lower(),
        class_name,
        at,
        _parts(kind, rgba),
        yaw_rad,
        kind.mass_kg,
        kind.friction,
        _ROLLING_M.get(kind.form, 0.0),
        support=support,
    )


def footprint_radius(kind: KindEntry) -> float:
    """Return the radius of a circle that holds things of a kind, seen from above, in metres."""
    wide, deep = kind.size_m[:2]
    return 0.5 * float(np.hypot(wide, deep) if kind.form == "block" else max(wide, deep))


def _parts(kind: KindEntry, rgba: Rgba) -> tuple[Part, ...]:
    size = kind.size_m
    radius, height = 0.5 * size[0], size[2]
    middle = (0.0, 0.0, 0.5 * height)
    if kind.form == "round":
        return (ellipsoid(middle, size, rgba),)
    if kind.form == "block":
        return (box(middle, size, rgba),)
    if kind.form == "can":
        return (cylinder(middle, radius, height, rgba),)
    if kind.form == "capped":
        cap = _CAP_SHARE * height
        body = height - cap
        return (
            cylinder((0.0, 0.0, 0.5 * body), radius, body, rgba),
            cylinder((0.0, 0.0, body + 0.5 * cap), _CAP_WIDTH * radius, cap, rgba),
        )
    return _vessel(radius, height, rgba)


def _vessel(outer: float, height: float, rgba: Rgba) -> tuple[Part, ...]:
    """Return an open round vessel of flat staves, so that things can lie in it."""
    parts = [cylinder((0.0, 0.0, 0.5 * _WALL_M), outer, _WALL_M, rgba)]
    middle = outer - 0.5 * _WALL_M
    half = (0.5 * _WALL_M, outer * float(np.tan(np.pi / _STAVES)), 0.5 * height)
    for angle in np.arange(_STAVES) * 2.0 * np.pi / _STAVES:
        at = (middle * float(np.cos(angle)), middle * float(np.sin(angle)), 0.5 * height)
        parts.append(Part(Form.BOX, at, half, rgba, float(angle)))
    return tuple(parts)


_GAP_M = 0.025
_TRIES = 200
_TURNED_RAD = 0.5


@dataclass(frozen=True)
class HomePlan:
    """A home before it is simulated.

    items: what stands in it. floor: its extent. start: where the robot begins (x, y in m, yaw in rad). surfaces: where
    things may be laid. alike: classes that a detector takes for each other.
    """

    items: tuple[Item, ...]
    floor: Rectangle
    start: tuple[float, float, float]
    surfaces: tuple[SurfaceEntry, ...]
    alike: tuple[tuple[str, str], ...]


def plan_home(seed: int = 0, things: Collection[str] | None = None, entries: HomeEntries | None = None) -> HomePlan:
    """Return the home with a thing of each kind at a place that the seed draws.

    things: only these kinds; None: all. entries: what the shipped file says, by default.

    Raises:
        InvalidValueError: they do not fit on the surfaces, or a colour has no value.
    """
    entries = entries or read_home()
    rng = np.random.default_rng(seed)
    walls = [wall(f"side_{index}", corners, entries.wall_height_m) for index, corners in enumerate(entries.walls)]
    furniture = [make_furniture(one, _rgba(entries, one.color)) for one in entries.furniture]
    kinds = {name: kind for name, kind in entries.kinds.items() if things is None or name in things}
    x, y, yaw_deg = entries.start
    return HomePlan(
        (*walls, *furniture, *_lay_out(kinds, entries, rng)),
        entries.floor_m,
        (x, y, float(np.radians(yaw_deg))),
        entries.surfaces,
        entries.alike,
    )


def _rgba(entries: HomeEntries, color: str) -> Rgba:
    if color not in entries.colors:
        raise InvalidValueError(f"color {color!r}: expected one of {', '.join(entries.colors)}")
    return (*entries.colors[color], 1.0)


def _lay_out(kinds: dict[str, KindEntry], entries: HomeEntries, rng: np.random.Generator) -> list[Item]:
    laid: list[Item] = []
    for class_name, kind in kinds.items():
        taken = [(one, footprint_radius(kinds[one.class_name])) for one in laid]
        spot = _free_spot(footprint_radius(kind), taken, entries.surfaces, rng)
        if spot is None:
            raise InvalidValueError(f"no room is left for {class_name}")
        surface, x, y = spot
        yaw_rad = float(rng.uniform(-_TURNED_RAD, _TURNED_RAD))
        at = (x, y, surface.height_m)
        laid.append(make_thing(class_name, kind, _rgba(entries, kind.color), at, yaw_rad, surface.on))
    return laid


def _free_spot(
    radius_m: float,
    laid: Sequence[tuple[Item, float]],
    surfaces: Sequence[SurfaceEntry],
    rng: np.random.Generator,
) -> tuple[SurfaceEntry, float, float] | None:
    """Return a surface and x, y where a thing touches none of the others, drawn at random; None: no room.

    laid: the others, and the radius of each.
    """
    for _ in range(_TRIES):
        surface = surfaces[int(rng.integers(len(surfaces)))]
        x0, y0, x1, y1 = surface.bounds_m
        x, y = float(rng.uniform(x0, x1)), float(rng.uniform(y0, y1))
        gaps = [np.hypot(x - one.at[0], y - one.at[1]) - radius_m - other for one, other in laid]
        if all(gap > _GAP_M for gap in gaps):
            return surface, x, y
    return None
