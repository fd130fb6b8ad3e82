"""Points of masks that are a pixel too large: what they show past the thing's upper edge is left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, OrientedBox
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.instance_points import fit_oriented_box, instance_points

INTRINSICS = Intrinsics(316.0, 316.0, 319.5, 239.5, 640, 480)
TOP_M, SUPPORT_M = 0.6, 0.62  # below the level camera: a thing that is 2 cm high
FAR_M, NEAR_M = 0.86, 0.78


def scene() -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Return the mask (h, w) and the depth (h, w) of a low thing on a support, seen by a level camera."""
    rows = np.arange(480, dtype=np.float64)[:, None] - INTRINSICS.cy
    columns = np.arange(640)[None, :]
    with np.errstate(divide="ignore"):
        top, support = TOP_M * INTRINSICS.fy / rows, SUPPORT_M * INTRINSICS.fy / rows
    on_top = (top >= NEAR_M) & (top <= FAR_M) & (columns >= 300) & (columns < 345)
    depth = np.where(on_top, top, support)
    depth[:241] = 4.5
    return on_top, depth.astype(np.float32)


@pytest.mark.parametrize("noise_m", [0.0, 0.0012])
def test_support_past_the_upper_edge_is_no_part_of_a_low_thing(noise_m: float) -> None:
    mask, depth = scene()
    depth += noise_m * np.random.default_rng(0).standard_normal(depth.shape).astype(np.float32)
    wider = mask.copy()
    wider[:-1] |= mask[1:]
    (exact,) = instance_points(mask.astype(np.int32), depth, INTRINSICS, PerceptionConfig())
    (grown,) = instance_points(wider.astype(np.int32), depth, INTRINSICS, PerceptionConfig())
    assert grown.points[:, 2].max() == pytest.approx(exact.points[:, 2].max(), abs=1e-6)
    assert grown.points[:, 2].max() < FAR_M + 0.006


def test_top_that_goes_on_keeps_its_last_row() -> None:
    mask, depth = scene()
    (found,) = instance_points(mask.astype(np.int32), depth, INTRINSICS, PerceptionConfig())
    assert found.points[:, 2].max() == pytest.approx(float(depth[mask].max()), abs=1e-4)


def surface(box: OrientedBox, count: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    local = generator.uniform(-0.5, 0.5, (count, 3))
    side = generator.integers(0, 3, count)
    local[np.arange(count), side] = np.where(generator.random(count) < 0.5, -0.5, 0.5)
    local *= box.size
    cos, sin = np.cos(box.yaw_rad), np.sin(box.yaw_rad)
    return np.column_stack(
        [cos * local[:, 0] - sin * local[:, 1], sin * local[:, 0] + cos * local[:, 1], local[:, 2]]
    ) + (box.center)


@pytest.mark.parametrize("yaw_deg", [0, 20, 45, 70, -45])
def test_box_at_any_yaw_has_true_size_and_center(yaw_deg: float) -> None:
    true = OrientedBox(np.array([12.0, -7.0, 0.8]), np.array([0.4, 0.2, 0.3]), np.radians(yaw_deg))
    found = fit_oriented_box(surface(true, 4000))
    assert found.center == pytest.approx(true.center, abs=0.005)
    assert found.size == pytest.approx(true.size, abs=0.01)
    assert np.sin(2 * (found.yaw_rad - true.yaw_rad)) == pytest.approx(0.0, abs=0.03)


def test_trim_keeps_noise_from_growing_the_box() -> None:
    true = OrientedBox(np.zeros(3), np.array([0.3, 0.2, 0.2]), np.radians(45))
    noisy = surface(true, 4000) + np.random.default_rng(1).normal(0.0, 0.01, (4000, 3))
    plain, trimmed = fit_oriented_box(noisy), fit_oriented_box(noisy, trim=0.02)
    assert np.abs(trimmed.size - true.size).max() < 0.5 * np.abs(plain.size - true.size).max()


def test_fewer_than_three_points_still_make_a_box() -> None:
    assert fit_oriented_box(np.array([[1.0, 2.0, 3.0]])).size == pytest.approx([0.0, 0.0, 0.0])
