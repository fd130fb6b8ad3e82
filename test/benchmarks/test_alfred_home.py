"""ALFRED's floor plans become worlds with REP-103 axes, sensible containment and a robot that can act."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.alfred_geometry import part_neighbours, turn_drawers
from benchmarks.alfred_home import (
    ALFRED_REACH_M,
    AlfredScenes,
    pose_from_thor,
    position_from_thor,
)
from memory_node.domain.errors import NotFoundError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.sim.execution import RobotConfig
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import Thing, load_types


def made_up_scene() -> dict[str, Any]:
    """A kitchen two metres deep: a counter with a sink ahead of the robot, a fridge to its right."""
    here = {"x": 0.0, "z": 1.5, "rotation": 0, "horizon": 30}
    right = {"x": 1.0, "z": 0.5, "rotation": 90, "horizon": 0}
    return {
        "room_type": "Kitchen",
        "reachable_xz": [[0.25 * i, 0.25 * j] for i in range(5) for j in range(7)],
        "object_types": ["Apple", "CounterTop", "Fridge", "SinkBasin", "Toaster"],
        "fixtures": [
            {"id": "Counter", "type": "CounterTop", "position": [0.0, 0.95, 2.2], "openable": True, "approach": here},
            {"id": "Basin", "type": "SinkBasin", "position": [0.6, 0.95, 2.2], "openable": True, "approach": here},
            {"id": "Fridge", "type": "Fridge", "position": [2.0, 0.0, 0.5], "openable": True, "approach": right},
        ],
    }


def made_up_task() -> dict[str, Any]:
    return {
        "agent": {"x": 0.0, "y": 0.9, "z": 0.0, "rotation": 90, "horizon": 30},
        "dirty_and_empty": True,
        "object_toggles": [],
        "objects": [
            {"name": "Apple_1", "type": "Apple", "position": [-0.3, 0.93, 2.1]},
            {"name": "Apple_1", "type": "Apple", "position": [2.0, 1.1, 0.5]},
            {"name": "Plate_1", "type": "Plate", "position": [0.6, 0.8, 2.2]},
        ],
    }


@pytest.fixture
def scenes_file(tmp_path: Path) -> Path:
    path = tmp_path / "scenes.json.gz"
    with gzip.open(path, "wt") as file:
        json.dump({"FloorPlan900": made_up_scene()}, file)
    return path


def test_axes_become_rep_103() -> None:
    np.testing.assert_allclose(position_from_thor([1.0, 2.0, 3.0]), [3.0, -1.0, 2.0])
    # rotation 90 looks along +x of AI2-THOR, which is -y here; 45 looks between
    pose = pose_from_thor(1.0, 3.0, 90.0)
    np.testing.assert_allclose(pose.apply([1.0, 0.0, 0.0]), position_from_thor([2.0, 0.0, 3.0]), atol=1e-9)
    diagonal = pose_from_thor(0.0, 0.0, 45.0).apply([np.sqrt(2.0), 0.0, 0.0])
    np.testing.assert_allclose(diagonal, position_from_thor([1.0, 0.0, 1.0]), atol=1e-9)


def test_objects_stand_where_geometry_says(scenes_file: Path) -> None:
    world = AlfredScenes(scenes_file).world("FloorPlan900", made_up_task())
    on_counter, in_fridge = sorted(world.of_class("Apple"), key=lambda apple: apple.parent_id)
    assert (on_counter.parent_id, on_counter.inside) == ("Counter", False)
    assert (in_fridge.parent_id, in_fridge.inside) == ("Fridge", True)
    assert world.closed_around(in_fridge) is world["Fridge"]
    (plate,) = world.of_class("Plate")
    assert plate.parent_id == "Basin"
    assert ObjectState.DIRTY in plate.states
    assert len(world.of_class("Faucet")) == 1


def test_cabinets_share_no_space_and_reach_to_what_is_in_them(tmp_path: Path) -> None:
    """The handles of a double door are a hand apart, and the next cabinet begins before a usual one would end."""
    scene = made_up_scene()
    for number, x in enumerate((0.0, 0.04, 0.4)):
        scene["fixtures"].append({"id": f"Cabinet{number}", "type": "Cabinet", "position": [x, 0.4, 2.0]})
    task = made_up_task()
    task["objects"] = [{"name": "Pan", "type": "Pan", "position": [-0.4, 0.1, 2.2]}]
    path = tmp_path / "scenes.json.gz"
    with gzip.open(path, "wt") as file:
        json.dump({"FloorPlan900": scene}, file)
    world = AlfredScenes(path).world("FloorPlan900", task)
    # Along a wall ahead of the robot: y is -x of AI2-THOR, so the first is the one farthest to the left.
    boxes = [world[f"Cabinet{number}"].box for number in range(3)]
    ends = [(box.center[1] + 0.5 * box.size[1], box.center[1] - 0.5 * box.size[1]) for box in boxes]
    assert ends[0][1] >= ends[1][0] - 0.03
    assert ends[1][1] >= ends[2][0] - 0.03
    (pan,) = world.of_class("Pan")
    assert pan.parent_id == "Cabinet0"
    assert ends[0][0] >= pan.box.center[1] + 0.5 * pan.box.size[1] - 1e-6


@pytest.mark.parametrize("turn", [1, -1])
def test_cabinets_in_a_corner_share_no_space(turn: int) -> None:
    cabinet, size = load_types()["Cabinet"], np.array([0.45, 0.6, 0.7])
    one = Thing("one", cabinet, OrientedBox(np.array([0.0, 0.0, 0.4]), size, 0.0))
    other = Thing("other", cabinet, OrientedBox(np.array([0.3, 0.35, 0.4]), size, turn * np.pi / 2))
    part_neighbours([one, other])
    apart = np.abs(one.box.center - other.box.center)[:2]
    assert (apart >= 0.5 * (one.box.size[:2] + other.box.size[[1, 0]]) - 0.021).any()
    assert min(*one.box.size, *other.box.size) > 0.2


def test_drawers_of_a_row_slide_out_of_it() -> None:
    drawer, size = load_types()["Drawer"], np.array([0.45, 0.45, 0.18])
    row = [Thing(str(y), drawer, OrientedBox(np.array([0.0, y, 0.8]), size, 0.5 * np.pi)) for y in (0.0, 0.5)]
    alone = Thing("alone", drawer, OrientedBox(np.array([0.0, 1.0, 0.2]), size, 0.5 * np.pi))
    turn_drawers([*row, alone], np.array([[-1.0, 0.2], [0.2, 3.0]]))
    fronts = [(round(float(np.cos(one.box.yaw_rad))), round(float(np.sin(one.box.yaw_rad)))) for one in [*row, alone]]
    assert fronts == [(-1, 0), (0, 1), (0, 1)]


@pytest.mark.parametrize("yaw_rad", [0.0, 0.25 * np.pi])
def test_boards_in_a_row_share_no_space(yaw_rad: float) -> None:
    shelf, along = load_types()["Shelf"], np.array([-np.sin(yaw_rad), np.cos(yaw_rad), 0.0])
    size = np.array([0.3, 0.9, 0.02])
    one, other = (Thing(str(at), shelf, OrientedBox(at * along + [0.0, 0.0, 0.2], size, yaw_rad)) for at in (0.0, 0.4))
    part_neighbours([one, other])
    gap_m = float((other.box.center - one.box.center) @ along) - 0.5 * float(one.box.size[1] + other.box.size[1])
    assert gap_m == pytest.approx(0.0)


def test_pans_in_one_place_lie_on_each_other(scenes_file: Path) -> None:
    pans = [{"name": "Pan", "type": "Pan", "position": [-0.3 + 0.03 * number, 0.93, 2.1]} for number in range(2)]
    pans.append({"name": "Pan", "type": "Pan", "position": [0.3, 0.93, 2.1]})
    world = AlfredScenes(scenes_file).world("FloorPlan900", made_up_task() | {"objects": pans})
    low, high, beside = world.of_class("Pan")
    assert high.box.bottom_m == pytest.approx(low.box.top_m)
    assert beside.box.bottom_m == pytest.approx(low.box.bottom_m)


def test_robot_washes_and_cools_in_an_alfred_kitchen(scenes_file: Path) -> None:
    robot = HomeRobot(
        AlfredScenes(scenes_file).world("FloorPlan900", made_up_task()), RobotConfig(reach_m=ALFRED_REACH_M)
    )
    apple = min(robot.world.of_class("Apple"), key=lambda thing: thing.parent_id)
    assert robot.execute(SkillCall("GoToObject", (apple.id,))).success
    assert robot.execute(SkillCall("CleanObject", (apple.id, "Basin"))).success
    assert robot.execute(SkillCall("CoolObject", (apple.id, "Fridge"))).success
    assert {ObjectState.CLEANED, ObjectState.COLD} <= robot.world[apple.id].states


def test_unknown_floor_plan_is_named(scenes_file: Path) -> None:
    with pytest.raises(NotFoundError, match="FloorPlan1"):
        AlfredScenes(scenes_file).world("FloorPlan77")


def test_real_scenes_declare_every_class(shared_dir: Path) -> None:
    path = shared_dir / "data/alfred_home/scenes.json.gz"
    scenes, types = AlfredScenes(path), load_types()
    with gzip.open(path) as file:
        floor_plans = json.load(file)
    missing = {name for plan in floor_plans for name in scenes.object_types(plan) if types.get(name) is None}
    assert not missing
