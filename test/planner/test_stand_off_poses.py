"""Stand-off poses: reachable, free, in sight, and turned towards the object."""

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox, Pose, wrap_angle
from memory_node.planner.stand_off_poses import Costmap, StandOffConfig, rank_stand_offs


def room(**walls) -> Costmap:
    """Return 6 m x 6 m of free floor, 5 cm cells, origin (-3, -3), with rectangles (x0, y0, x1, y1) occupied."""
    cells = np.zeros((120, 120), dtype=np.int8)
    for x0, y0, x1, y1 in walls.values():
        rows = slice(round((y0 + 3) / 0.05), round((y1 + 3) / 0.05))
        cells[rows, round((x0 + 3) / 0.05) : round((x1 + 3) / 0.05)] = 100
    return Costmap(cells, 0.05, (-3.0, -3.0))


APPLE = OrientedBox(np.array([0.0, 0.0, 0.9]), np.full(3, 0.1))


def test_poses_face_the_object_within_reach() -> None:
    found = rank_stand_offs(APPLE, room(table=(-0.3, -0.3, 0.3, 0.3)))
    assert found
    for one in found:
        away = -one.pose.position[:2]
        assert abs(wrap_angle(one.pose.yaw_rad - np.arctan2(away[1], away[0]))) < 1e-9
        assert 0.25 <= np.linalg.norm(away) <= 1.1


def test_robot_fits_where_it_is_to_stand() -> None:
    costmap = room(table=(-0.3, -0.3, 0.3, 0.3), cupboard=(0.8, -3, 3, 3))
    room_m = costmap.clearance_m()
    for one in rank_stand_offs(APPLE, costmap, k=100):
        rows, columns, inside = costmap.cells_at(one.pose.position[None, :2])
        assert inside.all()
        assert room_m[rows[0], columns[0]] >= 0.25


def test_object_against_a_wall_is_used_from_the_open_side() -> None:
    found = rank_stand_offs(APPLE, room(counter=(-0.3, -3, 0.3, 3), behind=(0.3, -3, 3, 3)))
    assert found
    assert all(one.pose.position[0] < -0.3 for one in found)


def test_thin_wall_between_hides_the_object() -> None:
    found = rank_stand_offs(APPLE, room(wall=(0.3, -3, 0.35, 3)), k=200)
    assert found
    assert all(one.pose.position[0] < 0.3 for one in found)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 4])
def test_front_is_stood_before_squarely_where_that_counts(yaw: float) -> None:
    fridge = OrientedBox(np.array([0.0, 0.0, 0.9]), np.array([0.6, 0.8, 1.8]), yaw)
    off_rad = []
    for weight in (0.0, 20.0):
        best = rank_stand_offs(fridge, room(), Pose.planar(2.5, 2.0, 0.0), StandOffConfig(square_weight=weight))[0]
        x, y = best.pose.position[:2]
        bearing = np.arctan2(y, x) - yaw
        off_rad.append(float(np.abs(wrap_angle(4.0 * bearing)) / 4.0))
    assert off_rad[1] < 0.02
    assert off_rad[0] > 0.1


@pytest.mark.parametrize("yaw", [0.0, np.pi / 4, np.pi / 2])
def test_long_object_is_measured_from_its_edge(yaw: float) -> None:
    sofa = OrientedBox(np.array([0.0, 0.0, 0.4]), np.array([2.0, 0.8, 0.8]), yaw)
    found = rank_stand_offs(sofa, room(), k=5)
    for one in found:
        cos, sin = np.cos(-yaw), np.sin(-yaw)
        x, y = one.pose.position[:2]
        local = np.abs([cos * x - sin * y, sin * x + cos * y])
        gap = np.linalg.norm(np.maximum(local - [1.0, 0.4], 0.0))
        assert 0.2 <= gap <= 0.95


def test_nearer_pose_is_preferred_when_all_else_is_equal() -> None:
    robot = Pose.planar(-2.5, 0.0, 0.0)
    best = rank_stand_offs(APPLE, room(), robot)[0]
    assert best.pose.position[0] < 0.0


def test_nothing_free_gives_no_pose() -> None:
    assert rank_stand_offs(APPLE, room(everything=(-3, -3, 3, 3))) == []


@pytest.mark.parametrize("reach_m", [(0.5, 0.4, 0.9), (-0.1, 0.4, 0.9), (0.0, 0.0, 0.0)])
def test_senseless_reach_is_refused(reach_m) -> None:
    with pytest.raises(InvalidValueError):
        StandOffConfig(reach_m=reach_m)


def test_near_side_of_a_table_counts_as_much_from_afar() -> None:
    table = OrientedBox(np.array([0.0, 0.0, 0.4]), np.array([0.8, 1.4, 0.8]))
    costmap = room(table=(-0.4, -0.7, 0.4, 0.7))

    def lead(away_m: float) -> float:
        found = rank_stand_offs(table, costmap, Pose.planar(away_m, 0.0, 0.0), k=1000)
        scores = {side: max(one.score for one in found if one.pose.position[0] * side > 0.5) for side in (1.0, -1.0)}
        return scores[1.0] - scores[-1.0]

    near_m, far_m = lead(2.0), lead(8.0)
    assert far_m >= near_m > 0.0
