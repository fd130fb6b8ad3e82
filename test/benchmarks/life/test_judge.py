"""What counts as moved by the robot."""

import numpy as np
import pytest

from benchmarks.life.judge import HomeRecord, came_down
from benchmarks.life.robot_life import Standing


def standing(parent_id: str, x_m: float = 0.0, z_m: float = 0.8) -> Standing:
    return Standing(parent_id, np.array([x_m, 0.0, z_m]), 0.0)


@pytest.mark.parametrize(
    ("was", "now", "is_so"),
    [
        (standing("table"), standing("table", z_m=0.7), True),
        (standing("book"), standing("table", z_m=0.7), True),
        (standing("table"), standing("table", x_m=0.2, z_m=0.7), False),
        (standing("table"), standing("floor", z_m=0.1), False),
        (standing("table"), standing("table", z_m=0.9), False),
        (standing("table"), standing("HAND", z_m=0.7), False),
    ],
)
def test_thing_that_lies_lower_at_its_spot_was_moved_by_nobody(was: Standing, now: Standing, is_so: bool) -> None:
    before = HomeRecord({"pot": was, "book": standing("table", z_m=0.75), "table": standing("")}, {}, frozenset())
    assert came_down(was, now, before, {"book"}) is is_so
