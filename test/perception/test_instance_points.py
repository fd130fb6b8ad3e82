"""Points of masks that are a pixel too large: what they show past the thing's upper edge is left out."""

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.instance_points import instance_points

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
