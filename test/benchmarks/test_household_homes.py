"""The floor plans that a suite leaves empty are furnished with what its instructions need."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.household_cases import Case
from benchmarks.household_homes import Homes
from memory_node.catalogue.label_space import load_catalogue


@pytest.fixture(scope="module")
def homes(shared_dir: Path) -> Homes:
    return Homes(shared_dir / "data/alfred_home/scenes.json.gz", load_catalogue(), 0)


def case(floor_plan: str, instruction: str, conditions: str) -> Case:
    return Case("c", "complex", floor_plan, instruction, {}, conditions)


def test_thing_that_a_condition_puts_back_at_a_place_begins_there(homes: Homes) -> None:
    told = case("FloorPlan422", "put the soap bar back where it belongs", "ON(soapbar,(-1.7, 0.8, 0.3)): 1")
    (soap,) = homes.world(told).of_class("SoapBar")
    assert np.linalg.norm(soap.box.center[:2] - [0.3, 1.7]) < 0.3


def test_appliances_of_a_floor_plan_stand_where_such_things_stand(homes: Homes) -> None:
    world = homes.world(case("FloorPlan1", "toast the bread, turn off the light", "STATE(bread, heated): 1"))
    (toaster,) = world.of_class("Toaster")
    assert world[toaster.parent_id].class_name in ("CounterTop", "DiningTable")
    assert len(world.of_class("LightSwitch")) == 1


def test_furnishing_is_the_same_for_the_same_seed(homes: Homes, shared_dir) -> None:
    again = Homes(shared_dir / "data/alfred_home/scenes.json.gz", load_catalogue(), 0)
    told = case("FloorPlan1", "put two apples on the table", "ON(apple, table): 1")
    places = [{thing.id: tuple(thing.box.center) for thing in one.world(told)} for one in (homes, again)]
    assert places[0] == places[1]
    assert len(homes.world(told).of_class("Apple")) == 2
