"""A labelled plan: what is remembered, seen from above, over the coloured points that the cameras saw."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from memory_node.app.ingest.recording import RgbdImage
from memory_node.catalogue.class_name import spoken
from memory_node.domain.geometry import Pose
from memory_node.domain.scene import SceneObject
from memory_node.scene_graph.marker_shapes import class_color

_CELL_M = 0.02
_STEP_PX = 6
_FARTHEST_M = 4.0
# Ceilings and lamps would hide everything: shown is what lies lower than this over the lowest points.
_CUT_M = 2.1
_WIDTH_IN = 14.0
_MOST_CELLS = 4_000_000


class CloudFromAbove:
    """Gathers points of many images by cells of the ground, the highest of each."""

    def __init__(self) -> None:
        self._points: list[NDArray[np.float32]] = []
        self._colors: list[NDArray[np.uint8]] = []

    def add(self, image: RgbdImage, map_T_camera: Pose) -> None:
        """Take in an image's points."""
        depth = image.depth_m[::_STEP_PX, ::_STEP_PX]
        with np.errstate(invalid="ignore"):
            rows, columns = np.nonzero((depth > 0.1) & (depth < _FARTHEST_M))
        z = depth[rows, columns]
        i = image.intrinsics
        x = (columns * _STEP_PX - i.cx) * z / i.fx
        y = (rows * _STEP_PX - i.cy) * z / i.fy
        self._points.append(map_T_camera.apply(np.stack([x, y, z], axis=1)).astype(np.float32))
        self._colors.append(image.color[rows * _STEP_PX, columns * _STEP_PX])

    def drawn(self) -> tuple[NDArray[np.uint8], tuple[float, float, float, float]] | None:
        """Return the picture (h, w, 4), y up, and its extent (left, right, bottom, top) in m; None without points."""
        if not self._points:
            return None
        points, colors = np.concatenate(self._points), np.concatenate(self._colors)
        if not len(points):
            return None
        floor = float(np.quantile(points[:, 2], 0.01))
        low, high = np.quantile(points[:, :2], 0.002, axis=0), np.quantile(points[:, :2], 0.998, axis=0)
        shown = (
            (points[:, 2] < floor + _CUT_M) & (points[:, :2] >= low).all(axis=1) & (points[:, :2] < high).all(axis=1)
        )
        points, colors = points[shown], colors[shown]
        across, along = (np.ceil((high - low) / _CELL_M).astype(int) + 1).tolist()
        if not len(points) or across * along > _MOST_CELLS:
            return None
        picture = np.zeros((along, across, 4), np.uint8)
        order = np.argsort(points[:, 2])  # the highest is drawn last
        cell = ((points[order, :2] - low) / _CELL_M).astype(int)
        picture[cell[:, 1], cell[:, 0], :3] = colors[order]
        picture[cell[:, 1], cell[:, 0], 3] = 255
        left, bottom = (float(side) for side in low)
        return picture, (left, left + across * _CELL_M, bottom, bottom + along * _CELL_M)


def draw_plan(objects: Iterable[SceneObject], cloud: CloudFromAbove, path: Path, title: str) -> Path:
    """Draw objects with their names and sizes over a cloud to a PNG and return its path."""
    listed = sorted(objects, key=lambda found: float(found.box.top_m))
    drawn = cloud.drawn()
    corners = [found.box.footprint() for found in listed]
    if drawn is not None:
        left, right, bottom, top = drawn[1]
        corners.append(np.array([[left, bottom], [right, top]]))
    everything = np.vstack(corners) if corners else np.array([[-1.0, -1.0], [1.0, 1.0]])
    low, high = everything.min(axis=0) - 0.2, everything.max(axis=0) + 0.2
    height = float(np.clip(_WIDTH_IN * (high[1] - low[1]) / (high[0] - low[0]), 5.0, 20.0))
    figure = Figure(figsize=(_WIDTH_IN, height), dpi=120)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if drawn is not None:
        axes.imshow(drawn[0], origin="lower", extent=drawn[1], alpha=0.75, zorder=0)
    for found in listed:
        color = class_color(found.class_name)
        axes.add_patch(Polygon(found.box.footprint(), facecolor=color, edgecolor=color, alpha=0.25, zorder=2))
        axes.add_patch(Polygon(found.box.footprint(), fill=False, edgecolor=color, linewidth=1.6, zorder=3))
        size = found.box.size * 100.0
        text = f"{spoken(found.class_name)}\n{size[0]:.0f}x{size[1]:.0f}x{size[2]:.0f}"
        axes.text(
            float(found.box.center[0]),
            float(found.box.center[1]),
            text,
            ha="center",
            va="center",
            fontsize=6.5,
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": color, "linewidth": 0.6, "pad": 1.2},
        )
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_title(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(path)
    return path
