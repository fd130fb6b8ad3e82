"""Boxes fitted to points, above all of things that stand at 45 degrees."""

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox
from memory_node.perception.instance_points import fit_oriented_box


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
