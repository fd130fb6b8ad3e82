"""Grasps, spots to put things on, and sides of boxes: the parts of the bridge that need no robot."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes.skill_bridge.grasping import GripperShape, free_spots, rank_grasps, rank_placements, tool_pose
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.target import Grip
from memory_node.nodes.skill_bridge.ways.reaching import advance_until, facing, side_of

ROBOT = Pose.planar(0.0, 0.0, 0.0)
SHAPE = GripperShape()


def box(x: float, y: float, z: float, sides: tuple[float, float, float], yaw_rad: float = 0.0) -> OrientedBox:
    return OrientedBox(np.array([x, y, z]), np.array(sides), yaw_rad)


@pytest.mark.parametrize("yaw_rad", [0.0, np.pi / 4, -np.pi / 4])
def test_fingers_close_across_the_narrow_side(yaw_rad: float) -> None:
    long_thing = box(0.6, 0.0, 0.8, (0.2, 0.04, 0.03), yaw_rad)
    for grasp in rank_grasps(long_thing, ROBOT, [], SHAPE, 0.1):
        close = grasp.pose.matrix[:3, 1]
        narrow = np.array([-np.sin(yaw_rad), np.cos(yaw_rad), 0.0])
        assert abs(close @ narrow) == pytest.approx(1.0)


def test_too_wide_for_the_gripper_gives_no_grasp() -> None:
    assert rank_grasps(box(0.6, 0.0, 0.8, (0.3, 0.3, 0.3)), ROBOT, [], SHAPE, 0.1) == []


def test_thing_in_a_cupboard_is_taken_from_the_front_first() -> None:
    cup = box(0.6, 0.3, 1.2, (0.08, 0.08, 0.1), np.arctan2(0.3, 0.6))
    assert rank_grasps(cup, ROBOT, [], SHAPE, 0.1)[0].from_above
    front = rank_grasps(cup, ROBOT, [], SHAPE, 0.1, inside=True)[0]
    assert not front.from_above
    way = front.pose.position - front.before.position
    np.testing.assert_allclose(way / np.linalg.norm(way), [0.894, 0.447, 0.0], atol=1e-3)


def test_approach_that_neighbours_block_ranks_last() -> None:
    cup = box(0.6, 0.0, 0.8, (0.06, 0.06, 0.12))
    lid = box(0.6, 0.0, 0.95, (0.3, 0.3, 0.05))
    free = next(grasp for grasp in rank_grasps(cup, ROBOT, [], SHAPE, 0.1) if grasp.from_above)
    blocked = next(grasp for grasp in rank_grasps(cup, ROBOT, [lid], SHAPE, 0.1) if grasp.from_above)
    assert blocked.score < free.score


@pytest.mark.parametrize(("axis", "column"), [("x", 0), ("z", 2)])
def test_configured_axis_points_ahead(axis: str, column: int) -> None:
    ahead = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0])
    matrix = tool_pose(np.zeros(3), ahead, np.pi / 4, axis).matrix[:3, :3]
    np.testing.assert_allclose(matrix[:, column], ahead, atol=1e-9)
    assert np.linalg.det(matrix) == pytest.approx(1.0)


@pytest.mark.parametrize(("height", "below_top"), [(0.014, 0.007), (0.05, 0.035), (0.2, 0.04)])
def test_fingers_reach_below_the_middle_where_there_is_room(height: float, below_top: float) -> None:
    grasp = rank_grasps(box(0.6, 0.0, 0.8, (0.05, 0.05, height)), ROBOT, [], SHAPE, 0.1)[0]
    assert 0.8 + 0.5 * height - grasp.pose.position[2] == pytest.approx(below_top)


def test_spots_that_are_tried_first_lie_apart() -> None:
    spots = [np.array([0.5 + 0.05 * step, 0.0, 0.8]) for step in range(8)]
    kind = load_catalogue().find("DiningTable")
    tried = [one.center[0] for one in rank_placements(spots, ROBOT, Grip(), kind, "x", 0.1, 1.0)]
    assert tried == pytest.approx([0.5, 0.65, 0.8, 0.55, 0.6, 0.7, 0.75, 0.85])


def test_spots_keep_off_edges_and_neighbours() -> None:
    table = box(1.0, 0.0, 0.4, (0.6, 0.6, 0.8), np.pi / 4)
    plate = box(1.0, 0.0, 0.82, (0.2, 0.2, 0.04))
    apple = box(0.0, 0.0, 0.0, (0.08, 0.08, 0.08))
    spots = free_spots(table, load_catalogue().get("DiningTable"), apple, [plate])
    assert spots
    for spot in spots:
        assert table.contains(np.array([[*spot[:2], 0.5]]), -0.05).all()
        assert np.linalg.norm(spot[:2] - plate.center[:2]) > 0.14
        assert spot[2] == pytest.approx(0.85)


def test_hand_has_room_within_walls() -> None:
    can = box(1.0, 0.0, 0.2, (0.28, 0.28, 0.4))
    apple = box(0.0, 0.0, 0.0, (0.074, 0.074, 0.07))
    spots = free_spots(can, load_catalogue().get("GarbageCan"), apple, [])
    assert spots
    fingers_m = 0.037 + 0.03  # half the thing and a finger beside it
    assert all(np.abs(spot[:2] - can.center[:2]).max() + fingers_m < 0.14 - 0.04 for spot in spots)


def test_what_fills_a_bowl_is_put_into_its_middle() -> None:
    bowl = box(1.0, 0.0, 0.5, (0.15, 0.15, 0.06))
    spots = free_spots(bowl, load_catalogue().get("Bowl"), box(0.0, 0.0, 0.0, (0.074, 0.074, 0.07)), [])
    assert {tuple(np.round(spot[:2], 3)) for spot in spots} == {(1.0, 0.0)}


def test_full_receptacle_has_no_spot() -> None:
    plate = box(1.0, 0.0, 0.8, (0.2, 0.2, 0.02))
    cake = box(1.0, 0.0, 0.86, (0.2, 0.2, 0.1))
    assert free_spots(plate, load_catalogue().get("Plate"), box(0.0, 0.0, 0.0, (0.1, 0.1, 0.1)), [cake]) == []


def test_nearest_spot_within_reach_is_first_and_the_tool_is_above_it() -> None:
    spots = [np.array([x, 0.0, 0.9]) for x in (1.5, 0.8, 0.6)]
    placements = rank_placements(spots, ROBOT, Grip(True, 0.02), load_catalogue().get("DiningTable"), "x", 0.1, 1.0)
    assert [float(one.center[0]) for one in placements] == [0.6, 0.8]
    first = placements[0]
    np.testing.assert_allclose(first.pose.position, [0.6, 0.0, 0.92])
    np.testing.assert_allclose(first.before.position, [0.6, 0.0, 1.02])


def test_cupboard_is_entered_from_the_front() -> None:
    spots = [np.array([0.7, 0.0, 1.0])]
    (placement,) = rank_placements(spots, ROBOT, Grip(), load_catalogue().get("Microwave"), "x", 0.1, 1.0)
    assert placement.before.position[0] == pytest.approx(0.6)
    assert placement.after.position[0] == pytest.approx(0.6)


def test_wide_open_fingers_keep_off_what_stands_beside() -> None:
    shaker = box(0.6, 0.0, 0.85, (0.044, 0.044, 0.085))
    soap = box(0.6, 0.075, 0.83, (0.06, 0.06, 0.03), np.pi / 5)
    best = rank_grasps(shaker, ROBOT, [soap], SHAPE, 0.1)[0]
    beside = np.array([0.0, 1.0, 0.0])
    assert best.from_above
    assert abs(best.pose.matrix[:3, 1] @ beside) < 0.5
    assert abs(rank_grasps(shaker, ROBOT, [], SHAPE, 0.1)[0].pose.matrix[:3, 1] @ beside) == pytest.approx(1.0)


def test_round_thing_among_four_neighbours_is_taken_between_them() -> None:
    mug = box(0.6, 0.0, 0.85, (0.07, 0.07, 0.09))
    ways = [(0.07, 0.0), (-0.07, 0.0), (0.0, 0.07), (0.0, -0.07)]
    others = [box(0.6 + x, y, 0.83, (0.03, 0.03, 0.06)) for x, y in ways]
    best = rank_grasps(mug, ROBOT, others, SHAPE, 0.1)[0]
    assert np.abs(best.pose.matrix[:2, 1]) == pytest.approx(np.sqrt([0.5, 0.5]))


def test_narrow_side_is_taken_even_if_the_wrist_turns_for_it() -> None:
    sponge = box(0.6, 0.0, 0.85, (0.065, 0.084, 0.035))
    best = rank_grasps(sponge, ROBOT, [], SHAPE, 0.1)[0]
    assert abs(best.pose.matrix[0, 1]) == pytest.approx(1.0)


def test_grasps_from_the_front_are_among_the_first_that_are_tried() -> None:
    candle = box(0.6, 0.0, 0.85, (0.06, 0.06, 0.1))
    assert any(not grasp.from_above for grasp in rank_grasps(candle, ROBOT, [], SHAPE, 0.1)[:8])


def test_flat_thing_is_also_tried_a_little_higher() -> None:
    phone = box(0.6, 0.0, 0.757, (0.07, 0.14, 0.014))
    best, *others = rank_grasps(phone, ROBOT, [], SHAPE, 0.1)[:4]
    rises = [
        grasp.pose.position[2] - best.pose.position[2]
        for grasp in others
        if np.allclose(grasp.pose.quaternion, best.pose.quaternion)
    ]
    assert rises == pytest.approx([0.006])


def test_nothing_is_put_where_furniture_as_high_overlaps_the_receptacle() -> None:
    counter = box(2.92, 0.3, 0.425, (1.78, 0.6, 0.85))  # remembered 0.3 m too far over the sink
    sink = box(2.05, 0.3, 0.42, (0.6, 0.6, 0.84))
    held = box(0.0, 0.0, 0.5, (0.05, 0.1, 0.05))
    spots = free_spots(counter, None, held, [sink])
    assert spots
    assert min(spot[0] for spot in spots) > 2.35
    assert min(spot[0] for spot in free_spots(counter, None, held, [])) < 2.2


def test_tray_on_a_table_takes_things_though_the_table_is_nearly_as_high() -> None:
    table, tray = box(0.6, 0.0, 0.4, (1.0, 1.0, 0.8)), box(0.6, 0.0, 0.81, (0.4, 0.3, 0.02))
    assert free_spots(tray, None, box(0.0, 0.0, 0.5, (0.07, 0.07, 0.1)), [table])


def test_furniture_that_seems_to_fill_a_receptacle_is_remembered_wrongly() -> None:
    basin = box(0.6, 0.0, 0.75, (0.4, 0.4, 0.2))
    counter = box(0.6, 0.0, 0.45, (2.0, 0.6, 0.9))  # remembered over the basin that it has around it
    plate = box(0.5, 0.0, 0.7, (0.1, 0.3, 0.1))
    kind, held = load_catalogue().get("SinkBasin"), box(0.0, 0.0, 0.5, (0.08, 0.08, 0.08))
    assert free_spots(basin, kind, held, [counter]) == []
    spots = free_spots(basin, kind, held, [plate], [counter])
    assert spots
    assert all(abs(spot[0] - 0.5) > 0.05 for spot in spots), "what can be moved still counts"


def test_furniture_beside_a_receptacle_is_kept_off_where_there_is_room() -> None:
    table, lamp = box(0.6, 0.0, 0.4, (1.0, 1.0, 0.8)), box(0.3, 0.0, 0.9, (0.3, 1.0, 0.5))
    held = box(0.0, 0.0, 0.5, (0.07, 0.07, 0.1))
    assert all(spot[0] > 0.45 for spot in free_spots(table, None, held, [], [lamp]))


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
