import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox, Pose, wrap_angle


def test_planar_pose_keeps_its_yaw_at_45_degrees() -> None:
    assert Pose.planar(0.0, 0.0, np.pi / 4).yaw_rad == pytest.approx(np.pi / 4)


def test_box_at_45_degrees_contains_what_an_upright_one_would_not() -> None:
    box = OrientedBox(np.zeros(3), np.array([2.0, 0.2, 1.0]), np.pi / 4)
    along, across = np.array([0.6, 0.6, 0.0]), np.array([0.6, -0.6, 0.0])
    assert box.contains(np.array([along, across])).tolist() == [True, False]


def test_footprint_of_a_turned_box_keeps_its_sides() -> None:
    box = OrientedBox(np.array([1.0, 1.0, 0.0]), np.array([3.0, 1.0, 1.0]), np.pi / 4)
    corners = box.footprint()
    sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    assert np.allclose(sides, [3.0, 1.0, 3.0, 1.0])


def test_moved_box_turns_with_the_transform() -> None:
    box = OrientedBox(np.array([1.0, 0.0, 0.5]), np.array([1.0, 1.0, 1.0]), 0.1)
    moved = box.moved_by(Pose.planar(0.0, 2.0, np.pi / 2))
    assert np.allclose(moved.center, [0.0, 3.0, 0.5])
    assert moved.yaw_rad == pytest.approx(np.pi / 2 + 0.1)


def test_angles_wrap_into_half_open_circle() -> None:
    assert wrap_angle(3 * np.pi) == pytest.approx(-np.pi)


@pytest.mark.parametrize("bad", [[0.0, 0.0, np.nan], [0.0, 0.0], [np.inf, 0.0, 0.0]])
def test_pose_refuses_what_is_no_position(bad: list[float]) -> None:
    with pytest.raises(InvalidValueError, match=r"Pose\.position: expected"):
        Pose(np.array(bad))


def test_pose_refuses_a_quaternion_without_length() -> None:
    with pytest.raises(InvalidValueError, match="unit length"):
        Pose(np.zeros(3), np.zeros(4))


def test_distance_to_a_box_turned_by_45_degrees_is_to_its_edge() -> None:
    box = OrientedBox(np.array([1.0, 1.0, 0.4]), np.array([2.0, 1.0, 0.8]), np.pi / 4)
    assert box.distance_m(np.array([1.5, 1.5])) == 0.0
    along, across = np.array([1.0, 1.0]) / np.sqrt(2.0), np.array([-1.0, 1.0]) / np.sqrt(2.0)
    assert box.distance_m(np.array([1.0, 1.0]) + 1.75 * along) == pytest.approx(0.75)
    assert box.distance_m(np.array([1.0, 1.0]) + 1.75 * across) == pytest.approx(1.25)
    assert box.distance_m(np.array([1.0, 1.0]) + 1.3 * along + 0.9 * across) == pytest.approx(0.5)


@given(st.integers(0, 2**32 - 1))
def test_poses_turn_as_scipys_rotations_do(seed: int) -> None:
    """An independent implementation of the same algebra, at any angles."""
    rng = np.random.default_rng(seed)
    turns = Rotation.from_quat(rng.normal(size=(2, 4)))
    one, other = (Pose(rng.normal(size=3), turn.as_quat()) for turn in turns)
    points = rng.normal(size=(4, 3))

    assert np.allclose(one.axes, turns[0].as_matrix(), atol=1e-12)
    assert np.allclose((one @ other).axes, (turns[0] * turns[1]).as_matrix(), atol=1e-12)
    assert np.allclose((one @ other).apply(points), one.apply(other.apply(points)), atol=1e-12)
    assert np.allclose(one.inverse().apply(one.apply(points)), points, atol=1e-12)
    assert np.allclose(Pose.from_matrix(one.matrix).matrix, one.matrix, atol=1e-12)
    assert np.allclose(one.apply(points), turns[0].apply(points) + one.position, atol=1e-12)
    assert one.turn_rad(other) == pytest.approx((turns[0].inv() * turns[1]).magnitude(), abs=1e-7)
