"""Depth of a camera beside the colour camera lies where the colour camera sees it."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.camera_model import depth_in_color_view

DEPTH_CAMERA = Intrinsics(290.0, 290.0, 158.0, 121.0, 320, 240)
WALL_M, BOX_M, HALF_M = 2.0, 1.0, 0.2


def beside(turned_rad: float = 0.0) -> Pose:
    """Return color_T_depth: the depth camera 6 cm to the right and 1 cm up, turned about the vertical."""
    matrix = np.eye(4)
    cos, sin = np.cos(turned_rad), np.sin(turned_rad)
    matrix[:3] = [[cos, 0.0, sin, 0.06], [0.0, 1.0, 0.0, -0.01], [-sin, 0.0, cos, 0.0]]
    return Pose.from_matrix(matrix)


def seen_by(lens: Intrinsics, color_T_camera: Pose) -> NDArray[np.float32]:
    """Return exact depth (h, w) of a square plate before a wall, both upright in the colour camera's frame."""
    columns, rows = np.meshgrid(np.arange(lens.width), np.arange(lens.height))
    local = np.stack([(columns - lens.cx) / lens.fx, (rows - lens.cy) / lens.fy, np.ones(rows.shape)], axis=-1)
    rays, origin = local @ color_T_camera.matrix[:3, :3].T, color_T_camera.position
    to_plate = (BOX_M - origin[2]) / rays[..., 2]
    on_plate = (np.abs(origin[:2] + rays[..., :2] * to_plate[..., None]) < HALF_M).all(axis=-1)
    return np.where(on_plate, to_plate, (WALL_M - origin[2]) / rays[..., 2]).astype(np.float32)


@pytest.mark.parametrize("focal_px", [145.0, 290.0, 300.0, 680.0], ids=["coarser", "equal", "finer", "much finer"])
@pytest.mark.parametrize("turned_rad", [0.0, 0.05])
def test_depth_is_what_a_depth_camera_in_the_place_of_the_colour_camera_would_tell(
    focal_px: float, turned_rad: float
) -> None:
    scale = focal_px / 290.0
    view = Intrinsics(focal_px, focal_px, 160.0 * scale, 120.0 * scale, int(320 * scale), int(240 * scale))
    moved = depth_in_color_view(seen_by(DEPTH_CAMERA, beside(turned_rad)), DEPTH_CAMERA, beside(turned_rad), view)
    exact = seen_by(view, Pose())
    assert moved.shape == (view.height, view.width)
    edge = 2 * int(np.ceil(max(scale, 1.0)))
    on_plate = exact < 1.5
    inner = ~(_near(on_plate, edge) & _near(~on_plate, edge))
    inner &= _shows(view, exact, beside(turned_rad))
    known = np.isfinite(moved)
    assert known[inner].mean() > 0.99
    assert np.abs(moved - exact)[inner & known].max() < 0.01
    # What the plate hides from the depth camera alone stays unknown; that is 3 % of the view.
    hidden = ~_near(_shows(view, exact, beside(turned_rad)), edge)
    assert hidden.mean() > 0.005
    assert not known[hidden].any()


def test_nothing_is_told_where_nothing_is_known() -> None:
    depth = np.full((240, 320), np.nan, np.float32)
    depth[:, :100] = 0.0
    assert np.isnan(depth_in_color_view(depth, DEPTH_CAMERA, beside(), DEPTH_CAMERA)).all()


def test_the_near_one_hides_the_far_one_whichever_comes_first() -> None:
    depth = np.full((240, 320), np.nan, np.float32)
    depth[100, 100:110] = 1.0
    # 6 cm are 17 px at 1 m and 6 px at 3 m: these fall on one another.
    depth[100, 113:119] = 3.0
    depth[102, 150:156] = 3.0
    depth[102, 136:146] = 1.0
    level = np.eye(4)
    level[0, 3] = 0.06
    moved = depth_in_color_view(depth, DEPTH_CAMERA, Pose.from_matrix(level), DEPTH_CAMERA)
    assert np.nanmax(moved[100]) == np.nanmax(moved[102]) == 1.0


def _shows(view: Intrinsics, exact: NDArray[np.float32], color_T_depth: Pose) -> NDArray[np.bool_]:
    """Return which pixels (h, w) of the view show what the depth camera sees, too."""
    columns, rows = np.meshgrid(np.arange(view.width), np.arange(view.height))
    points = np.stack([(columns - view.cx) / view.fx, (rows - view.cy) / view.fy, np.ones(rows.shape)], axis=-1)
    points *= exact[..., None]
    way = points - color_T_depth.position
    at_plate = color_T_depth.position + way * ((BOX_M - color_T_depth.position[2]) / way[..., 2:])
    in_the_way = (exact > 1.5) & (np.abs(at_plate[..., :2]) < HALF_M).all(axis=-1)
    local = way @ color_T_depth.matrix[:3, :3]
    c = DEPTH_CAMERA
    column, row = local[..., 0] / local[..., 2] * c.fx + c.cx, local[..., 1] / local[..., 2] * c.fy + c.cy
    in_image = (column > 0.5) & (column < c.width - 1.5) & (row > 0.5) & (row < c.height - 1.5)
    return np.asarray(in_image & ~in_the_way)


def _near(mask: NDArray[np.bool_], pixels: int) -> NDArray[np.bool_]:
    return cv2.dilate(mask.astype(np.uint8), np.ones((2 * pixels + 1, 2 * pixels + 1))).astype(bool)
