"""A picture of the home from above, with the ways that a robot went."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from memory_node.sim.ray_caster import RayCaster
from memory_node.sim.world import World

RESOLUTION_M = 0.01
# Below the lintels, so that doorways are open, and above the furniture.
CUT_HEIGHT_M = 1.95
COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e")


def seen_from_above(world: World, resolution_m: float = RESOLUTION_M) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return a picture (h, w, 3) straight down, first row at the highest y, and its bounds (x0, x1, y0, y1) in m."""
    corners = np.vstack([room.corners() for room in world.layout.rooms])
    (x0, y0), (x1, y1) = corners.min(axis=0) - 0.1, corners.max(axis=0) + 0.1
    x, y = np.meshgrid(np.arange(x0, x1, resolution_m), np.arange(y1, y0, -resolution_m))
    rays = np.zeros((*x.shape, 6), dtype=np.float32)
    rays[..., 0], rays[..., 1], rays[..., 2], rays[..., 5] = x, y, CUT_HEIGHT_M, -1.0
    color, _, _ = RayCaster(world).cast(rays)
    return color, np.array([x0, x1, y0, y1])


def draw_ways(world: World, ways: Mapping[str, ArrayLike], path: Path) -> None:
    """Write a PNG of the home with named ways, each (n, 2) in the map frame, from a dot to an arrow."""
    color, bounds = seen_from_above(world)
    width, height = bounds[1] - bounds[0], bounds[3] - bounds[2]
    figure = Figure(figsize=(9.0, 9.0 * height / width + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.imshow(color, extent=tuple(bounds), interpolation="bilinear")
    for number, (name, way) in enumerate(ways.items()):
        points = np.asarray(way, dtype=np.float64).reshape(-1, 2)
        colour = COLOURS[number % len(COLOURS)]
        length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) if len(points) > 1 else 0.0
        axes.plot(*points.T, color=colour, linewidth=2.0, label=f"{name}: {length:.1f} m")
        axes.plot(*points[0], "o", color=colour)
        if len(points) > 1:
            axes.annotate("", points[-1], points[-2], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.0})
    for room in world.layout.rooms:
        middle = room.corners().mean(axis=0)
        axes.text(float(middle[0]), float(middle[1]), room.name, ha="center", color="white", alpha=0.9, fontsize=11)
    if ways:
        axes.legend(loc="lower right")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    figure.savefig(path, dpi=110)
