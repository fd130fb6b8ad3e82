"""What a frame shows at the places of remembered objects, and how far that speaks against them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray, Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.scene_graph.association import Association, alike
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectTable, Rows
from memory_node.scene_graph.observed import Observed
from memory_node.scene_graph.state import GraphState

# Where in the box the rays are aimed, as parts of its half sides: the centre and a cross of points well inside.
_AIMS = np.array(
    [
        [0, 0, 0],
        [0.5, 0, 0],
        [-0.5, 0, 0],
        [0, 0.5, 0],
        [0, -0.5, 0],
        [0, 0, 0.5],
        [0, 0, -0.5],
        [0.4, 0.4, 0.3],
        [-0.4, -0.4, 0.3],
    ]
)
# An object counts as glimpsed when, along some axis, no face has a standard deviation below the first value (m). It may
# lie beside its box by up to the second value (m). So rays are also aimed around the box, and the object is seen
# through only when at least the third value's share of all rays passes.
_UNSEEN_M = 0.2
_BESIDE_M = 0.06
_MOST = 0.6


@dataclass(frozen=True, eq=False)
class Sight:
    """For each row (m,): in_view, the object's middle lies in the image and in range; clear, share of rays that reach
    its place or pass it; through, share of rays that pass right through it; pixels, how large it should appear."""

    in_view: NDArray[np.bool_]
    clear: FloatArray
    through: FloatArray
    pixels: FloatArray


def look_for(rows: Rows, table: ObjectTable, frame: Frame, config: SceneGraphConfig) -> Sight:
    """Aim rays of the frame at the objects of `rows` (m,) and compare the depth there with where the objects should be.

    Frames without depth or intrinsics see nothing. Occlusion and out of view are not evidence (Sight.clear and
    in_view say so).
    """
    if frame.depth_m is None or frame.intrinsics is None or not rows.size:
        zeros = np.zeros(len(rows))
        return Sight(np.zeros(len(rows), bool), zeros, zeros, zeros)
    # Rows of which no face was ever seen along some axis: only a sliver of them showed between other things.
    glimpsed = (table.face_variance[rows].min(axis=1) > _UNSEEN_M**2).any(axis=1)
    points = _aimed_points(rows, table, glimpsed)
    u, v, z = project(points, frame.map_T_camera, frame.intrinsics)
    height, width = frame.depth_m.shape
    with np.errstate(invalid="ignore"):
        inside = (z > 0.1) & (u >= 0.0) & (v >= 0.0) & (u < width) & (v < height)
    depth = np.zeros(z.shape)
    depth[inside] = frame.depth_m[v[inside].astype(np.intp), u[inside].astype(np.intp)]
    with np.errstate(invalid="ignore"):
        known = inside & (depth > 0.0)
    spread = np.sqrt(0.25 * table.face_variance[rows].sum(axis=1).max(axis=1))
    margin = (0.02 + 2.0 * np.minimum(spread, 0.05))[:, None] + 0.004 * z**2
    through = known & (depth > z + margin)
    # A surface in front of the box hides the object, also a wall directly in front of it.
    hidden = known & (depth < z * _entry(rows, table, points, frame.map_T_camera.position) - margin)
    looked = inside.sum(axis=1)
    clear = (known & ~hidden).sum(axis=1) / len(_AIMS)
    side = np.sort(table.size[rows], axis=1)
    distance = np.maximum(z[:, 0], 0.1)
    pixels = frame.intrinsics.fx * frame.intrinsics.fy * side[:, 1] * np.maximum(side[:, 2], 0.02) / distance**2 * 0.5
    in_view = inside[:, 0] & (looked >= len(_AIMS) - 2) & (distance < config.evidence_range_m)
    share = through.sum(axis=1) / len(_AIMS)
    share[glimpsed & (share < _MOST)] = 0.0
    return Sight(in_view, clear, share, pixels)


def project(
    points: FloatArray, map_T_camera: Pose, intrinsics: Intrinsics
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return pixel column, row and depth (...) of map points (..., 3)."""
    matrix = map_T_camera.matrix
    local = (points - matrix[:3, 3]) @ matrix[:3, :3]
    z = local[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        u = intrinsics.fx * local[..., 0] / z + intrinsics.cx + 0.5
        v = intrinsics.fy * local[..., 1] / z + intrinsics.cy + 0.5
    return u, v, z


def view_bounds(frame: Frame, range_m: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the rectangle (low, high) on the ground that holds everything in view up to `range_m`."""
    origin = frame.map_T_camera.position
    if frame.intrinsics is None:
        corners = origin[None, :2]
    else:
        cam = frame.intrinsics
        across = np.array([-cam.cx, cam.width - cam.cx]) / cam.fx
        down = np.array([-cam.cy, cam.height - cam.cy]) / cam.fy
        rays = np.array([[x, y, 1.0] for x in across for y in down]) * range_m
        corners = np.vstack([frame.map_T_camera.apply(rays), origin])[:, :2]
    low, high = corners.min(axis=0), corners.max(axis=0)
    return (float(low[0]), float(low[1])), (float(high[0]), float(high[1]))


def _entry(rows: Rows, table: ObjectTable, points: FloatArray, eye: FloatArray) -> FloatArray:
    """Return at which part of the way from the eye (3,) to points (m, k, 3) within each row's box the box is entered
    (m, k)."""
    yaw = table.yaw[rows].astype(np.float64)
    cos, sin = np.cos(yaw)[:, None], np.sin(yaw)[:, None]

    def local(shift: FloatArray) -> FloatArray:
        x, y = shift[..., 0], shift[..., 1]
        return np.stack([cos * x + sin * y, cos * y - sin * x, shift[..., 2]], axis=-1)

    start = local((eye - table.center[rows])[:, None])
    way = local(points - eye)
    half = 0.5 * table.size[rows][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.minimum((-half - start) / way, (half - start) / way)
    return np.clip(np.nan_to_num(near, nan=0.0, neginf=0.0).max(axis=-1), 0.0, 1.0)


def _aimed_points(rows: Rows, table: ObjectTable, glimpsed: NDArray[np.bool_]) -> FloatArray:
    grown = 0.5 * table.size[rows] + glimpsed[:, None] * _BESIDE_M
    offset = _AIMS[None] * grown[:, None]
    yaw = table.yaw[rows].astype(np.float64)[:, None]
    cos, sin = np.cos(yaw), np.sin(yaw)
    turned = np.stack(
        [cos * offset[..., 0] - sin * offset[..., 1], sin * offset[..., 0] + cos * offset[..., 1], offset[..., 2]],
        axis=-1,
    )
    return np.asarray(turned + table.center[rows][:, None])


# Share of the smaller of two boxes in the other from which they cannot both be there.
_FILLED = 0.6
# Share of the rays to a place that must reach it or pass it for the place to count as looked at.
_LOOKED_AT = 0.6
# Share of the rays through a place from which the place counts as seen through.
_SEEN_THROUGH = 0.5
# Half hidden places: least share of rays that must reach the place, and least share of these that must pass through it.
_GLIMPSED, _EMPTY = 0.3, 2.0 / 3.0


def missing_evidence(
    state: GraphState, frame: Frame, observed: Observed, rows: Rows, sight: Sight, found: Association
) -> FloatArray:
    """Return for each row (m,) the logarithm of a likelihood ratio, at most 0: existence against absence.

    observed, found: what the frame shows, and which rows that is. sight: what its depth image says of the rows' places.
    """
    table, config = state.table, state.config
    unmatched = sight.in_view & ~table.among(found.matched[:, 1])[rows]
    missing = unmatched & ~table.sheltered[rows]
    looked = unmatched & (sight.clear >= _LOOKED_AT)
    # Rays that go through the place tell more than a part of something there.
    open_share = sight.through - table.porosity[rows]
    passed = looked & (open_share >= _SEEN_THROUGH)
    sheltered = passed & ~missing
    passed[sheltered] = [_is_looked_into(state, observed, row, found) for row in rows[sheltered].tolist()]
    overlooked = missing & looked & ~passed & ~table.among(found.parts[:, 1])[rows] & frame.complete
    overlooked &= sight.pixels >= config.evidence_min_pixels
    overlooked |= _taken(state, observed, rows, missing & ~passed, found)
    evidence = np.where(overlooked, math.log(config.miss_likelihood_ratio), 0.0)
    evidence[passed] = math.log(config.through_likelihood_ratio)
    # Half hidden, and the visible part of its place is empty: the smaller that part, the weaker the evidence.
    glimpsed = missing & ~passed & (sight.clear >= _GLIMPSED) & (open_share >= _EMPTY * sight.clear)
    partly = open_share[glimpsed] * math.log(config.through_likelihood_ratio)
    evidence[glimpsed] = np.minimum(evidence[glimpsed], partly)
    return evidence


def _is_looked_into(state: GraphState, observed: Observed, row: int, found: Association) -> bool:
    """Return whether the closed container of a row, seen around the row's place, must be open: rays pass there.

    Where it is not seen around that place, the thing went along with a door or a drawer.
    """
    container = state.table.row_of.get(state.table.record(row).support_id, -1)
    views = found.matched[found.matched[:, 1] == container, 0].tolist()
    return any(observed.observations[obs].box.contains(state.table.center[row][None])[0] for obs in views)


def _taken(
    state: GraphState, observed: Observed, rows: Rows, missing: NDArray[np.bool_], found: Association
) -> NDArray[np.bool_]:
    """Return whether the place of each missing row (m,) is filled by a thing that is seen: both cannot be there."""
    taken = np.zeros(len(rows), bool)
    seen = np.concatenate([found.matched[:, 0], found.fresh])
    seen = seen[~observed.truncated[seen]]
    which, index = (grid.ravel() for grid in np.meshgrid(seen, np.flatnonzero(missing), indexing="ij"))
    if not which.size:
        return taken
    row, table = rows[index], state.table
    pairs = observed.overlap_with(table, which, row, 0.0)
    # A far smaller thing stands in or on the other, as a cup in a cupboard does.
    filled = (pairs.containment >= _FILLED) & alike(pairs)
    taken[index[filled]] = True
    return taken
