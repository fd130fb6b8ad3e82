"""`bench body` counts what physics says, and its faults are real: pushed things have moved, weak grips let go."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from memory_node.domain.geometry import Pose

if find_spec("mujoco") is None or find_spec("gymnasium_robotics") is None:
    pytest.skip("the extra `physics` is not installed", allow_module_level=True)

from benchmarks.body import Outcome, RelationCount, Tally
from benchmarks.body_life import Faults
from memory_node.sim.physics.home import plan_home
from memory_node.sim.physics.simulation import Simulation


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return Simulation(plan_home(0, ("Apple", "Mug")))


def lay(simulation: Simulation, x: float, y: float, z: float) -> None:
    simulation.place_item("mug", Pose.planar(x, y, 0.0, z))


def test_thing_is_on_what_it_stands_on_and_on_nothing_else(simulation: Simulation) -> None:
    lay(simulation, 1.3, 0.4, 0.851)
    assert simulation.supports("mug", "counter_left")
    assert not simulation.supports("mug", "dining_table")
    lay(simulation, 2.05, 0.3, 0.715)
    assert simulation.supports("mug", "basin")
    lay(simulation, 1.3, 0.4, 1.1)
    assert not simulation.supports("mug", "counter_left"), "it hangs in the air"


def test_pushed_thing_stays_on_its_furniture_and_off_others(simulation: Simulation) -> None:
    lay(simulation, 1.6, 2.7, 0.75)
    here = simulation.body_pose("mug").position
    assert simulation.is_clear("mug", here + np.array([0.1, 0.0, 0.0]))
    assert not simulation.is_clear("mug", here + np.array([0.45, 0.0, 0.0])), "beyond the edge"
    simulation.place_item("apple", Pose.planar(1.72, 2.7, 0.0, 0.75))
    assert not simulation.is_clear("mug", here + np.array([0.1, 0.0, 0.0])), "into the apple"


def test_person_pushes_a_thing_on_its_table_and_shuts_an_open_drawer(simulation: Simulation) -> None:
    lay(simulation, 1.6, 2.7, 0.75)
    simulation.place_item("apple", Pose.planar(6.2, 2.2, 0.0, 0.45))
    simulation.move_mechanism("drawer_left", 0.3)
    faults = Faults(simulation, np.random.default_rng(0), 0.02)
    before = {name: simulation.body_pose(name).position for name in ("mug", "apple")}
    for _ in range(10):
        faults.between_trials()
    moved = [float(np.linalg.norm(simulation.body_pose(name).position - at)) for name, at in before.items()]
    assert max(moved) > 0.1
    assert faults.told["pushed"] >= 1
    assert faults.told["shut"] == 1
    assert not simulation.is_moved("drawer_left")


def test_row_counts_what_the_robot_claims_and_physics_denies() -> None:
    done = Outcome("pick", "Mug", True, True, "", 1.0, 10.0, (0.01, 0.03), RelationCount(told=4, right=3, there=6))
    denied = Outcome("pick", "Apple", True, False, "denied", 3.0, 30.0)
    failed = Outcome("pick", "Egg", False, False, "execution", 2.0, 20.0)
    row = Tally([done, denied, failed]).row("pick", "full")
    assert row["success_rate"] == pytest.approx(1 / 3)
    assert (row["trials"], row["false_done"], row["causes"]) == (3, 1, {"denied": 1, "execution": 1})
    assert (row["distance_m"], row["seconds"], row["position_error_m"]) == (2.0, 20.0, pytest.approx(0.02))
    assert (row["relation_precision"], row["relation_recall"]) == (0.75, 0.5)
    assert Tally([failed]).row("pick", "full")["relation_precision"] is None
