"""Home files: what they may say becomes a world with a free floor, what they must not say is named."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.sim.home_file import load_home
from memory_node.sim.layout import DOOR_HEIGHT_M, FREE, OCCUPIED, Door, FreeGrid, RoomPlan, walls_of
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import load_types
from memory_node.sim.world import World


def two_rooms() -> dict[str, Any]:
    return {
        "name": "two rooms",
        "robot": {"start": [1.0, 1.0, 0]},
        "rooms": [{"id": "west", "bounds": [0, 0, 3, 3]}, {"id": "east", "bounds": [3, 0, 6, 3]}],
        "doors": [{"at": [3, 1.5]}],
        "fixtures": [
            {"id": "table", "type": "SideTable", "at": [5.0, 2.5], "yaw_deg": 45},
            {"id": "lamp", "type": "DeskLamp", "on": "table", "at": [5.05, 2.6]},
            {"id": "switch", "type": "LightSwitch", "at": [5.9, 1.5], "z_m": 1.0, "controls": ["lamp"]},
        ],
        "objects": [{"type": "Mug", "on": "table", "at": [0.1, 0.0], "states": ["dirty"]}],
    }


def load(tmp_path: Path, home: dict[str, Any]) -> World:
    path = tmp_path / "home.yaml"
    # Written without quotes round `on`, as people write it.
    path.write_text(yaml.safe_dump(home).replace("'on':", "on:"))
    return load_home(path)


def test_file_becomes_a_world(tmp_path: Path) -> None:
    world = load(tmp_path, two_rooms())
    mug = world["mug_1"]
    assert mug.parent_id == "table"
    assert ObjectState.DIRTY in mug.states
    assert mug.box.bottom_m == pytest.approx(world["table"].box.top_m)
    assert world["lamp"].box.bottom_m == pytest.approx(world["table"].box.top_m)
    # `at` counts along the table's own axes, which are turned by 45 degrees here
    offset = mug.box.center[:2] - world["table"].box.center[:2]
    assert offset @ np.array([np.sqrt(0.5), np.sqrt(0.5)]) == pytest.approx(0.1, abs=0.05)


def test_switch_turns_on_what_it_controls(tmp_path: Path) -> None:
    robot = HomeRobot(load(tmp_path, two_rooms()))
    assert robot.execute(SkillCall("GoToObject", ("switch",))).success
    assert robot.execute(SkillCall("SwitchOn", ("switch",))).success
    assert robot.world["lamp"].is_on


def test_wall_hides_and_doorway_lets_through(tmp_path: Path) -> None:
    robot = HomeRobot(load(tmp_path, two_rooms()))
    assert robot.execute(SkillCall("GoToObject", ("2.6,2.6",))).success
    assert "mug_1" not in {thing.id for thing in robot.visible_objects(all_around=True)}
    assert robot.execute(SkillCall("PickupObject", ("Mug",))).reason is FailureReason.NOT_VISIBLE
    went = robot.execute(SkillCall("GoToObject", ("mug_1",)))
    assert went.success
    assert went.distance_m > 2.0


def test_full_table_is_occupied_and_small_one_does_not_fit(tmp_path: Path) -> None:
    home = two_rooms()
    home["fixtures"].append({"id": "shelf", "type": "Shelf", "at": [0.2, 1.5], "z_m": 0.9, "size_m": [0.15, 0.2, 0.03]})
    home["objects"] += [{"type": "Vase", "on": "shelf"}, {"type": "Box", "floor": [1.0, 2.4]}]
    home["objects"] += [{"id": "laptop", "type": "Laptop", "floor": [2.0, 2.4]}]
    robot = HomeRobot(load(tmp_path, home))

    def do(skill: str, *arguments: str) -> FailureReason:
        return robot.execute(SkillCall(skill, arguments)).reason

    do("GoToObject", "laptop")
    assert do("PickupObject", "laptop") is FailureReason.NONE
    do("GoToObject", "shelf")
    assert do("PutObject", "laptop", "shelf") is FailureReason.PRECONDITION
    do("ThrowObject", "laptop")
    do("GoToObject", "mug_1")
    do("PickupObject", "mug_1")
    do("GoToObject", "shelf")
    assert do("PutObject", "mug_1", "shelf") is FailureReason.OCCUPIED


@pytest.mark.parametrize(
    ("section", "entry", "message"),
    [
        ("objects", {"type": "Unicorn", "on": "table"}, "Unicorn"),
        ("objects", {"type": "Apple", "on": "desk"}, "desk"),
        ("objects", {"type": "Apple", "in": "table"}, "nothing is in a SideTable"),
        ("objects", {"type": "Apple"}, "on, in, floor"),
        ("objects", {"type": "Apple", "on": "table", "stats": []}, "stats"),
        ("objects", {"type": "Apple", "on": "table", "states": ["purple"]}, "purple"),
        ("objects", {"type": "Mug", "id": "table", "on": "table"}, "two things"),
        ("fixtures", {"type": "Microwave", "on": "counter", "at": [0, 0]}, "declared before"),
        ("fixtures", {"type": "Microwave"}, "at"),
        ("objects", {"on": "table"}, "type"),
        ("doors", {"at": [1.0, 1.0]}, "doors"),
        ("rooms", {"id": "flat", "bounds": [0, 3, 2, 3]}, "flat"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, section: str, entry: dict[str, Any], message: str) -> None:
    home = two_rooms()
    home[section].append(entry)
    with pytest.raises(Exception, match=message) as caught:
        load(tmp_path, home)
    assert type(caught.value).__module__.startswith("memory_node.domain.errors")


def test_home_that_does_not_ship_is_named() -> None:
    with pytest.raises(InvalidValueError, match=r"expected apartment, studio, or the path of a home file .* 'castle'"):
        load_home("castle")


@pytest.mark.parametrize(
    "content",
    ["just words", "[1, 2]", "name: [", "{name: x, robot: y, rooms: 3}", "{name: x, robot: {start: [0]}, rooms: []}"],
)
def test_home_file_that_says_nonsense_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "home.yaml"
    path.write_text(content)
    with pytest.raises(InvalidValueError, match="home") as told:
        load_home(path)
    assert "\n" not in str(told.value)


def test_shared_walls_stand_once_with_a_lintel_over_the_doorway() -> None:
    rooms = (RoomPlan("a", "a", (0, 0, 2, 2)), RoomPlan("b", "b", (2, 0, 4, 2)))
    walls = walls_of(rooms, (Door((2.0, 1.0), 0.8),))
    between = [wall for wall in walls if wall.start[0] == wall.end[0] == 2.0]
    assert sorted((wall.start[1], wall.end[1], wall.bottom_m) for wall in between) == [
        (0.0, pytest.approx(0.6), 0.0),
        (pytest.approx(0.6), pytest.approx(1.4), DOOR_HEIGHT_M),
        (pytest.approx(1.4), 2.0, 0.0),
    ]


def test_declared_class_with_a_wrong_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "types.yaml"
    path.write_text("Apple: {colour: [1, 2, 3], shap: box}\n")
    with pytest.raises(InvalidValueError, match=r"Apple.shap"):
        load_types(path=path)


def grid_with_wall(gap: bool) -> FreeGrid:
    occupancy = np.full((40, 60), FREE, dtype=np.int8)
    occupancy[:, 30] = OCCUPIED
    if gap:
        occupancy[30:36, 30] = FREE
    return FreeGrid(occupancy, 0.1, (0.0, 0.0))


def test_path_goes_through_the_gap() -> None:
    grid = grid_with_wall(gap=True)
    start, goal = np.array([1.05, 0.55]), np.array([5.05, 0.55])
    path = grid.path(start, goal)
    np.testing.assert_allclose(path[0], start)
    np.testing.assert_allclose(path[-1], goal, atol=0.05)
    legs = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert legs.sum() >= 2.0 * np.hypot(2.0, 2.4)
    assert legs.sum() <= grid.distance(start, goal) + 1e-6
    for here, there in itertools.pairwise(path):
        assert grid.is_clear(here, there)


def test_no_path_is_none() -> None:
    grid = grid_with_wall(gap=False)
    assert grid.path(np.array([1.0, 1.0]), np.array([5.0, 1.0])) is None
    assert grid.distance(np.array([1.0, 1.0]), np.array([5.0, 1.0])) == np.inf


def test_diagonal_drive_is_straight() -> None:
    grid = FreeGrid(np.full((50, 50), FREE, dtype=np.int8), 0.1, (-1.0, -1.0))
    path = grid.path(np.array([-0.55, -0.55]), np.array([2.45, 2.45]))
    assert path is not None
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(3.0 * np.sqrt(2.0), abs=0.01)


def test_clearance_keeps_the_robot_off_walls_and_the_edge() -> None:
    occupancy = np.full((40, 40), FREE, dtype=np.int8)
    occupancy[:, 20] = OCCUPIED
    grid = FreeGrid(occupancy, 0.1, (0.0, 0.0), clearance_m=0.3)
    assert np.abs(grid.points[:, 0] - 2.05).min() > 0.29
    assert grid.points.min() > 0.2


def test_robot_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="fits nowhere"):
        FreeGrid(np.full((5, 5), FREE, dtype=np.int8), 0.1, (0.0, 0.0), clearance_m=2.0)
