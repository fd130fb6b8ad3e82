"""A home from above with the robot's path, with and without memory."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from benchmarks.household_life import Trial
from memory_node.sim.world import World


def draw_paths(world: World, trial: Trial, without: Trial | None, path: Path) -> None:
    """Write a PNG: one panel for the trial and one for the same instruction without memory, if there is such a run."""
    shown = [("with memory", trial), *([("without memory", without)] if without is not None else [])]
    figure, axes = plt.subplots(1, len(shown), figsize=(7.0 * len(shown), 7.0), squeeze=False)
    for axis, (title, one) in zip(axes[0], shown):
        _draw_home(axis, world)
        _draw_path(axis, world, one)
        result = one.result
        axis.set_title(
            f"{title}: {'done' if one.success else 'failed'}, {result.explorations} explorations, "
            f"{result.distance_m:.1f} m, {result.skill_s:.0f} s"
        )
    figure.suptitle(f"{trial.case.floor_plan}: {trial.case.instruction}", wrap=True)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_home(axis: Axes, world: World) -> None:
    side = world.grid.resolution_m
    points = world.grid.points
    axis.scatter(points[:, 0], points[:, 1], s=18, marker="s", color="#e8eef4", zorder=0)
    for thing in world:
        if thing.fixed:
            axis.add_patch(
                Polygon(thing.box.footprint(), facecolor="#d9cbb5", edgecolor="#8a7a5c", alpha=0.7, zorder=1)
            )
            x, y = thing.box.center[:2]
            axis.annotate(thing.class_name, (float(x), float(y)), fontsize=6, ha="center", va="center", zorder=3)
        else:
            axis.plot(*thing.box.center[:2], ".", color="#a05030", markersize=4, zorder=2)
    axis.set_aspect("equal")
    axis.set_xlabel("x (m)")
    axis.set_ylabel("y (m)")
    axis.margins(0.05 + 0.1 * side)


def _draw_path(axis: Axes, world: World, trial: Trial) -> None:
    start = world.layout.start.position[:2]
    driven = np.array([start, *trial.path])
    axis.plot(driven[:, 0], driven[:, 1], "-", color="#1660b0", linewidth=1.6, alpha=0.8, zorder=4)
    axis.plot(*start, "o", color="#1a8f3c", markersize=9, zorder=5)
    axis.plot(*driven[-1], "X", color="#b02020", markersize=9, zorder=5)
