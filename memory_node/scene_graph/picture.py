"""A picture of the graph drawn over the map, for people without rviz."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.domain.scene import Relation, RelationKind, SceneObject, SceneSnapshot
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.marker_shapes import class_color

_WIDTH_IN = 12.0
_INK = "#26323d"
_PATH = "#1f6feb"
_AREA = "#7b8794"


def draw_scene(
    snapshot: SceneSnapshot,
    path: Path,
    grid: OccupancyMap | None = None,
    robot_path: NDArray[np.floating] | Sequence[tuple[float, float]] = (),
    title: str = "",
) -> Path:
    """Draw a snapshot to a PNG (or SVG, by the name), one floor above the other, and return its path.

    grid: the occupancy map under it. robot_path: (n, 2) in map.
    """
    floors = _by_floor(snapshot, grid)
    extents = [_extent(part, under) for part, under in floors]
    shapes = [np.maximum(high - low, 1.0) for low, high in extents]
    heights = [float(np.clip(_WIDTH_IN * size[1] / size[0], 4.0, 16.0)) + 0.5 for size in shapes]
    figure = Figure(figsize=(_WIDTH_IN, sum(heights)), dpi=130)
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(floors), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, (part, under), (low, high) in zip(panels, floors, extents):
        if under is not None:
            _draw_map(axes, under)
        _draw_places(axes, part)
        if len(robot_path) > 1 and under is grid:
            track = np.asarray(robot_path, dtype=float)
            axes.plot(
                track[:, 0], track[:, 1], color=_PATH, linewidth=1.6, alpha=0.75, zorder=3, solid_capstyle="round"
            )
            axes.plot(*track[-1], marker="o", markersize=9, color=_PATH, markeredgecolor="white", zorder=8)
        _draw_objects(axes, part, small_text=len(part.objects) > 60)
        _frame(axes, low, high, title or _title(part, len(floors) > 1))
    figure.tight_layout()
    figure.savefig(path)
    return path


def _by_floor(snapshot: SceneSnapshot, grid: OccupancyMap | None) -> list[tuple[SceneSnapshot, OccupancyMap | None]]:
    """Return the snapshot of each floor, the highest first, and the grid with the floor whose map it is."""
    if len(snapshot.floors) < 2:
        return [(snapshot, grid)]
    floors = sorted(snapshot.floors, key=lambda floor: -floor.height_m)
    heights = [floor.height_m for floor in floors]
    mapped = int(np.argmin(np.abs(np.subtract(heights, grid.map_T_origin.position[2])))) if grid is not None else -1
    return [(snapshot.on_floor(floor.id), grid if i == mapped else None) for i, floor in enumerate(floors)]


def _title(snapshot: SceneSnapshot, of_several: bool) -> str:
    counts = f"{len(snapshot.objects)} objects, {len(snapshot.areas)} areas, {len(snapshot.rooms)} rooms"
    counts = f"{snapshot.floors[0].name}: {counts}" if of_several else counts
    return counts if snapshot.frame_verified else f"{counts} (frame not verified)"


def _extent(snapshot: SceneSnapshot, grid: OccupancyMap | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = [found.box.footprint() for found in snapshot.objects]
    points += [np.array([area.position for area in snapshot.areas])] if snapshot.areas else []
    if grid is not None:
        height, width = grid.cells.shape
        known = np.argwhere(grid.cells >= 0) if (grid.cells >= 0).any() else np.array([[0, 0], [height, width]])
        ends = np.array([known.min(axis=0), known.max(axis=0) + 1], dtype=float)
        points.append(grid.to_map(ends[:, 0], ends[:, 1]))
    if not points:
        return np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    everything = np.vstack(points)
    return everything.min(axis=0) - 0.3, everything.max(axis=0) + 0.3


def _draw_map(axes: Axes, grid: OccupancyMap) -> None:
    height, width = grid.cells.shape
    shown = np.empty((height, width, 3))
    shown[grid.cells < 0] = (0.93, 0.935, 0.94)
    shown[grid.free()] = (1.0, 1.0, 1.0)
    shown[grid.cells >= 50] = (0.36, 0.40, 0.45)
    extent = (0.0, width * grid.resolution_m, 0.0, height * grid.resolution_m)
    origin = grid.map_T_origin
    turn = Affine2D().rotate(origin.yaw_rad).translate(float(origin.position[0]), float(origin.position[1]))
    axes.imshow(
        shown, origin="lower", extent=extent, transform=turn + axes.transData, zorder=0, interpolation="nearest"
    )


def _draw_places(axes: Axes, snapshot: SceneSnapshot) -> None:
    position = {area.id: area.position for area in snapshot.areas}
    edges = [
        (position[r.source_id], position[r.target_id])
        for r in snapshot.relations
        if r.kind is RelationKind.NAVIGABLE and r.source_id in position and r.target_id in position
    ]
    axes.add_collection(LineCollection(edges, colors=_AREA, linewidths=0.7, alpha=0.45, zorder=1))
    if position:
        at = np.array(list(position.values()))
        axes.scatter(at[:, 0], at[:, 1], s=14, color="white", edgecolors=_AREA, linewidths=0.9, zorder=2)
    for room in snapshot.rooms:
        axes.text(
            *room.center,
            room.name.upper(),
            ha="center",
            va="center",
            fontsize=12,
            weight="bold",
            color=_INK,
            alpha=0.35,
            zorder=2,
        )


def _draw_objects(axes: Axes, snapshot: SceneSnapshot, small_text: bool) -> None:
    largest_first = sorted(snapshot.objects, key=lambda found: -float(np.prod(found.box.size[:2])))
    for found in largest_first:
        _draw_box(axes, found)
    links = [_link(relation, snapshot) for relation in snapshot.relations]
    near = [ends for relation, ends in zip(snapshot.relations, links) if ends and relation.kind is RelationKind.NEAR]
    held = [
        ends
        for relation, ends in zip(snapshot.relations, links)
        if ends and relation.kind in (RelationKind.ON, RelationKind.IN)
    ]
    axes.add_collection(LineCollection(near, colors=_INK, linewidths=0.6, alpha=0.25, linestyles="dotted", zorder=4))
    axes.add_collection(LineCollection(held, colors=_INK, linewidths=0.8, alpha=0.5, zorder=4))
    _label(axes, largest_first, 5.0 if small_text else 7.0)


def _draw_box(axes: Axes, found: SceneObject) -> None:
    color = class_color(found.class_name)
    solid = 0.25 + 0.6 * found.existence
    large = float(np.prod(found.box.size[:2])) > 0.25
    face = (*color, 0.22 * solid if large else 0.75 * solid)
    axes.add_patch(
        Polygon(found.box.footprint(), closed=True, facecolor=face, edgecolor=(*color, solid), linewidth=1.2, zorder=5)
    )
    sigma_m = float(np.sqrt(np.linalg.eigvalsh(found.covariance[:2, :2])[-1]))
    if 0.03 < sigma_m < 0.5:
        axes.add_patch(
            Circle(
                tuple(found.box.center[:2]),
                2.0 * sigma_m,
                fill=False,
                edgecolor=(*color, 0.35),
                linewidth=0.6,
                zorder=4,
            )
        )


def _link(relation: Relation, scene: SceneSnapshot) -> tuple[tuple[float, float], tuple[float, float]] | None:
    one, other = scene.by_id.get(relation.source_id), scene.by_id.get(relation.target_id)
    if one is None or other is None:
        return None
    start, end = one.box.center, other.box.center
    return (float(start[0]), float(start[1])), (float(end[0]), float(end[1]))


def _label(axes: Axes, objects: Sequence[SceneObject], size: float) -> None:
    """Write names beside the boxes, each at the first of a few spots where no name stands yet."""
    height_m = size * 0.022
    taken: list[tuple[float, float, float, float]] = []
    for found in sorted(objects, key=lambda o: (float(o.box.center[1]), float(o.box.center[0]))):
        name = spoken(found.class_name)
        wide = 0.55 * height_m * len(name)
        x, y = float(found.box.center[0]), float(found.box.center[1])
        reach = 0.5 * float(np.linalg.norm(found.box.size[:2]))
        roomy = min(found.box.size[:2]) > 6.0 * height_m and max(found.box.size[:2]) > 2.2 * wide
        beside = [(x, y + reach + height_m), (x, y - reach - height_m), (x + reach + wide, y), (x - reach - wide, y)]
        spots = [(x, y + 0.3 * float(found.box.size[1])), (x, y), *beside] if roomy else [*beside, (x, y)]
        for u, v in spots:
            box = (u - wide, v - height_m, u + wide, v + height_m)
            if not any(box[0] < t[2] and box[2] > t[0] and box[1] < t[3] and box[3] > t[1] for t in taken):
                taken.append(box)
                axes.text(u, v, name, fontsize=size, ha="center", va="center", color=_INK, zorder=7)
                break


def _frame(axes: Axes, low: NDArray[np.float64], high: NDArray[np.float64], title: str) -> None:
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.set_title(title, fontsize=11, color=_INK, loc="left")
    axes.set_xlabel("x in map (m)", fontsize=8, color=_INK)
    axes.set_ylabel("y in map (m)", fontsize=8, color=_INK)
    axes.tick_params(labelsize=7, colors=_INK)
    for side in axes.spines.values():
        side.set_visible(False)
