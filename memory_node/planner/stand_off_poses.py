"""Where to stand to use an object: free poses around it, ranked by reach, clearance and visibility (numpy only)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose, finite_array
from memory_node.domain.parameters import Expert, Parameters, parameter

_BLOCKED_FROM = 65  # nav_msgs/OccupancyGrid: what costmap tools take for occupied


_Reach = Annotated[float, Field(ge=0.0, le=5.0)]
_Weight = Annotated[float, Field(ge=0.0, le=100.0)]


class StandOffConfig(Parameters):
    """Where to stand to use a thing."""

    reach_m: tuple[_Reach, _Reach, _Reach] = Field(
        default=(0.25, 0.5, 0.9),
        strict=False,
        description="least, best and greatest horizontal distance from the base to the thing's nearest point",
    )
    radius_m: float = parameter(0.25, "radius of the robot's footprint", 0.0, 5.0)
    clearance_m: Expert[float] = parameter(0.3, "room beyond the footprint from which more is no better", 0.001, 5.0)
    directions: Expert[int] = parameter(32, "directions about the thing that are looked at", 4, 360)
    rings: Expert[int] = parameter(5, "distances in each direction that are looked at", 1, 50)
    weights: Expert[tuple[_Weight, _Weight, _Weight, _Weight]] = Field(
        default=(1.0, 0.7, 1.0, 0.3),
        strict=False,
        description="weights of reach, clearance, visibility and a short way; on any scale",
    )
    square_weight: Expert[float] = parameter(
        0.0, "weight of standing square to the middle of a side of the thing; on the same scale", 0.0, 100.0
    )

    @model_validator(mode="after")
    def _check_order(self) -> StandOffConfig:
        least, best, most = self.reach_m
        if not least <= best <= most or most == 0.0:
            raise ValueError(f"reach_m: expected 0 <= least <= best <= most, got {self.reach_m}")
        if sum(self.weights) == 0.0:
            raise ValueError(f"weights: expected some above 0, got {self.weights}")
        return self


@dataclass(frozen=True, eq=False)
class Costmap:
    """Cells (rows, columns) int8 as in nav_msgs/OccupancyGrid (0 free, 100 occupied, -1 unknown), row 0 at lowest y.

    origin: (x, y) in map of the corner of cell (0, 0); the map's axes are the grid's.
    """

    cells: NDArray[np.int8]
    resolution_m: float
    origin: tuple[float, float]

    def __post_init__(self) -> None:
        if self.cells.ndim != 2 or not self.cells.size:
            raise InvalidValueError(f"Costmap.cells: expected a grid, got shape {self.cells.shape}")
        if not self.resolution_m > 0.0:
            raise InvalidValueError(f"Costmap.resolution_m: expected more than 0, got {self.resolution_m}")

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which cells are known to be free."""
        return (self.cells >= 0) & (self.cells < _BLOCKED_FROM)

    def clearance_m(self) -> FloatArray:
        """Return for each cell the distance in metres to what is not free; the rim of the map counts as not free."""
        from scipy import ndimage  # the skills node alone drives by costmaps

        padded = np.pad(self.free, 1)
        return np.asarray(ndimage.distance_transform_edt(padded)[1:-1, 1:-1] * self.resolution_m)

    def cells_at(self, points: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
        """Return rows, columns and whether inside, for points (n, 2) in map; outside ones are clipped to the rim."""
        index = np.floor((points - np.array(self.origin)) / self.resolution_m).astype(np.intp)
        rows, columns = index[..., 1], index[..., 0]
        height, width = self.cells.shape
        inside = (rows >= 0) & (columns >= 0) & (rows < height) & (columns < width)
        return np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1), inside


@dataclass(frozen=True, eq=False)
class StandOff:
    """A place to stand: pose of the base in map, facing the object, and its scores in [0, 1]."""

    pose: Pose
    score: float
    reach: float
    clearance: float
    visibility: float


def rank_stand_offs(
    target: OrientedBox, costmap: Costmap, robot: Pose | None = None, config: StandOffConfig | None = None, k: int = 8
) -> list[StandOff]:
    """Return up to `k` poses from which the object can be used, best first; [] when there is none.

    Candidates lie on rings around the object's footprint. One is dropped when the footprint of the robot does not fit,
    or a ray to the object crosses something occupied before it comes to the furniture that carries the object.
    """
    config = config or StandOffConfig()
    points, gaps = _candidates(target, config)
    rows, columns, inside = costmap.cells_at(points)
    room = costmap.clearance_m()[rows, columns] - config.radius_m
    fits = inside & costmap.free[rows, columns] & (room >= 0.0)
    points, gaps, room = points[fits], gaps[fits], room[fits]
    if not len(points):
        return []
    visibility = _visibility(points, target, costmap)
    least, best, most = config.reach_m
    width = np.where(gaps < best, max(best - least, 1e-6), max(most - best, 1e-6))
    reach = np.clip(1.0 - np.abs(gaps - best) / width, 0.0, 1.0)
    clearance = np.clip(room / config.clearance_m, 0.0, 1.0)
    near = np.zeros(len(points))
    if robot is not None:
        away = np.linalg.norm(points - robot.position[:2], axis=1)
        # By the detour past the nearest place: from afar all places are about as far.
        near = 1.0 / (1.0 + away - away.min())
    weights = np.array([*config.weights, config.square_weight])
    terms = [reach, clearance, visibility, near, _squareness(points, target)]
    score = np.stack(terms, axis=1) @ (weights / weights.sum())
    score = np.where(visibility > 0.0, score, -1.0)
    order = [index for index in np.argsort(-score, kind="stable") if score[index] >= 0.0][:k]
    return [
        StandOff(
            _facing(points[index], target),
            float(score[index]),
            float(reach[index]),
            float(clearance[index]),
            float(visibility[index]),
        )
        for index in order
    ]


def _candidates(target: OrientedBox, config: StandOffConfig) -> tuple[FloatArray, FloatArray]:
    """Return points (n, 2) in map around the footprint, and their distances (n,) from it."""
    least, _, most = config.reach_m
    angles = np.linspace(0.0, 2.0 * np.pi, config.directions, endpoint=False)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    half = np.maximum(0.5 * target.size[:2], 1e-6)
    # where each ray leaves the footprint, in the box's own axes
    edge = rays * (1.0 / np.max(np.abs(rays) / half, axis=1))[:, None]
    gaps = np.linspace(least, most, config.rings)
    local = (edge[None] + gaps[:, None, None] * rays[None]).reshape(-1, 2)
    excess = np.maximum(np.abs(local) - half, 0.0)
    cos, sin = np.cos(target.yaw_rad), np.sin(target.yaw_rad)
    turned = np.stack([cos * local[:, 0] - sin * local[:, 1], sin * local[:, 0] + cos * local[:, 1]], axis=1)
    return turned + target.center[:2], np.linalg.norm(excess, axis=1)


def _squareness(points: FloatArray, target: OrientedBox) -> FloatArray:
    """Return for each point (n,) the cosine to the normal of the side that it stands before, from that side's
    middle."""
    normals = np.array([[np.cos(yaw), np.sin(yaw)] for yaw in target.yaw_rad + 0.5 * np.pi * np.arange(4)])
    halves = 0.5 * np.array([target.size[side % 2] for side in range(4)])
    ways = points[:, None] - (target.center[:2] + halves[:, None] * normals)
    cosines = (ways * normals).sum(axis=-1) / np.maximum(np.linalg.norm(ways, axis=-1), 1e-9)
    return np.asarray(np.clip(cosines.max(axis=1), 0.0, 1.0))


def _visibility(points: FloatArray, target: OrientedBox, costmap: Costmap) -> FloatArray:
    """Return for each point (n,) the share of rays to the footprint that stay free until the object's support.

    The object stands on occupied cells (a table); a ray may enter those once, near the object, and not before.
    """
    aims = np.vstack([target.center[:2], target.footprint()])
    steps = np.linspace(0.0, 1.0, 48)
    rays = points[:, None, None] + steps[None, None, :, None] * (aims[None, :, None] - points[:, None, None])
    rows, columns, inside = costmap.cells_at(rays)
    blocked = ~(costmap.free[rows, columns] & inside)
    left = np.linalg.norm(rays - aims[None, :, None], axis=-1)
    # Furniture reaches from the object to at most its own depth; what blocks earlier than that hides it.
    support_m = 0.5 * float(np.linalg.norm(target.size[:2])) + 0.6
    hidden = (blocked & (left > support_m)).any(axis=-1)
    # ... and behind that edge the ray must not come out into the open again.
    reopened = (np.diff(blocked.astype(np.int8), axis=-1) < 0).any(axis=-1)
    return np.asarray(1.0 - (hidden | reopened).mean(axis=-1))


def _facing(point: FloatArray, target: OrientedBox) -> Pose:
    offset = finite_array(target.center[:2] - point, (2,), "stand-off")
    return Pose.planar(float(point[0]), float(point[1]), float(np.arctan2(offset[1], offset[0])))
