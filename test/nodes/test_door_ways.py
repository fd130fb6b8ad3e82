"""Sides of boxes, and how they move when they are opened."""

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.ways.reaching import advance_until, facing, side_of

YAWS = [0.0, np.pi / 4, -np.pi / 3]


def side(yaw: float):
    box = OrientedBox(np.array([1.0, 2.0, 0.5]), np.array([0.4, 0.8, 1.0]), yaw)
    way = 1.5 * np.array([np.cos(yaw), np.sin(yaw)])
    return side_of(box, Pose.planar(1.0 + way[0], 2.0 + way[1], 0.0))


@pytest.mark.parametrize("yaw", YAWS)
def test_side_is_the_one_before_the_robot(yaw: float) -> None:
    front = side(yaw)
    assert front.normal == pytest.approx([np.cos(yaw), np.sin(yaw), 0.0])
    assert np.linalg.norm(front.middle[:2] - [1.0, 2.0]) == pytest.approx(0.2)
    assert front.width_m == pytest.approx(0.8)


def test_robot_beside_the_end_of_a_long_box_is_before_its_long_side() -> None:
    counter = OrientedBox(np.array([0.0, 0.0, 0.4]), np.array([3.0, 0.6, 0.8]))
    assert side_of(counter, Pose.planar(1.3, 1.0, 0.0)).normal == pytest.approx([0.0, 1.0, 0.0])


@pytest.mark.parametrize("yaw", YAWS)
@pytest.mark.parametrize("hinge", [1, -1])
def test_door_swings_out_about_its_edge(yaw: float, hinge: int) -> None:
    front = side(yaw)
    left = np.array([-front.normal[1], front.normal[0], 0.0])
    axis = front.middle + 0.4 * hinge * left
    opened = front.swung(hinge, 0.5)
    assert np.linalg.norm(opened.middle - axis) == pytest.approx(0.4)
    assert (opened.middle - front.middle) @ front.normal == pytest.approx(0.4 * np.sin(0.5))
    assert opened.normal @ front.normal == pytest.approx(np.cos(0.5))
    assert (opened.normal @ left) * hinge == pytest.approx(np.sin(0.5))


def test_tilted_tool_points_down_at_the_same_place() -> None:
    level = facing(np.array([1.0, 0.0, 0.9]), np.array([0.0, 1.0, 0.0]), 0.1, "x")
    tilted = facing(np.array([1.0, 0.0, 0.9]), np.array([0.0, 1.0, 0.0]), 0.1, "x", 0.6)
    assert tilted.position == pytest.approx(level.position)
    ahead = tilted.rotation.apply([1.0, 0.0, 0.0])
    assert ahead == pytest.approx([0.0, -np.cos(0.6), -np.sin(0.6)])
    assert tilted.rotation.apply([0.0, 1.0, 0.0])[2] == pytest.approx(0.0)


def test_way_ends_where_the_arm_meets_something_or_finds_no_way_on() -> None:
    class Wall:
        """An arm that is stopped at the third pose, for a reason."""

        def __init__(self, reason: FailureReason) -> None:
            self._reason = reason
            self._moves = 0

        def move(self, map_T_link: Pose, run: SkillRun) -> None:
            self._moves += 1
            if self._moves == 3:
                raise SkillFailure(self._reason, "stopped")

        def carry(self, run: SkillRun) -> None:
            """Nothing is folded."""

    poses = [Pose.planar(0.1 * step, 0.0, 0.0) for step in range(5)]
    run = SkillRun(lambda: False, lambda *progress: None)
    for reason in (FailureReason.UNREACHABLE, FailureReason.EXECUTION):
        assert advance_until(Wall(reason), poses, run) == (2, reason)
    assert advance_until(Wall(FailureReason.UNREACHABLE), poses[:2], run) == (2, FailureReason.NONE)
    with pytest.raises(SkillFailure):
        advance_until(Wall(FailureReason.CANCELED), poses, run)
