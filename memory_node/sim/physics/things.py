"""The movable things: each form as primitives with mass and friction, origin at the middle of its underside."""

from __future__ import annotations

import numpy as np

from memory_node.sim.physics.home_file import KindEntry
from memory_node.sim.physics.item import Form, Item, Part, Rgba, Vector, box, cylinder, ellipsoid

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
