"""A home holds the same things whatever the robot's label space calls them."""

from pathlib import Path

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import TypeCatalogue, load_types


@pytest.fixture
def coco() -> TypeCatalogue:
    return load_types(load_catalogue("coco"))


def test_things_are_reported_under_the_names_of_the_label_space(coco: TypeCatalogue) -> None:
    robot = HomeRobot(load_home("apartment", coco))
    robot.execute(SkillCall("GoToObject", ("dining_table",)))
    seen = {observation.best_class for observation in robot.observe(all_around=True).observations}
    assert {"dining table", "bowl", "fork", "cup", "chair"} <= seen
    assert seen <= set(load_catalogue("coco").names)


def test_what_has_no_name_is_there_and_not_reported(coco: TypeCatalogue) -> None:
    robot = HomeRobot(load_home("apartment", coco))
    assert robot.world["faucet"].class_name == "Faucet"
    robot.execute(SkillCall("GoToObject", ("faucet",)))
    assert "faucet" in {thing.id for thing in robot.visible_objects()}
    assert "Faucet" not in {observation.best_class for observation in robot.observe(all_around=True).observations}
    switched = robot.execute(SkillCall("ToggleOn", ("faucet",)))
    assert switched.success
    assert "Faucet" not in {change.object_class for change in switched.changes}


def test_skills_take_the_names_of_the_label_space(coco: TypeCatalogue) -> None:
    robot = HomeRobot(load_home("apartment", coco))
    robot.execute(SkillCall("GoToObject", ("apple",)))
    assert robot.execute(SkillCall("PickupObject", ("apple",))).success
    robot.execute(SkillCall("GoToObject", ("sink_basin",)))
    washed = robot.execute(SkillCall("CleanObject", ("apple", "sink_basin")))
    assert robot.world["sink_basin"].class_name == "sink"
    assert not robot.world["sink"].type.is_named, "one thing is reported, not its stand as well"
    assert washed.success, washed.message
    assert ObjectState.CLEANED in robot.world["apple"].states


def test_class_of_the_users_own_may_stand_in_a_home(tmp_path: Path) -> None:
    space, home = tmp_path / "mine.yaml", tmp_path / "home.yaml"
    space.write_text(
        "name: mine\nbase: household\nclasses:\n  TravelMug: {same_as: Mug, names: [thermos]}\n"
        "  Gong: {is: [pickupable]}\n"
    )
    rooms = "name: home\nrobot: {start: [1, 1, 0]}\nrooms:\n  - {id: room, bounds: [0, 0, 4, 4]}\n"
    home.write_text(rooms + "objects:\n  - {type: TravelMug, floor: [2, 2]}\n")
    types = load_types(load_catalogue(str(space)))
    (mug,) = load_home(home, types).of_class("travel mug")
    assert mug.type.looks == types["Mug"].looks
    home.write_text(rooms + "objects:\n  - {type: Gong, floor: [2, 2]}\n")
    with pytest.raises(InvalidValueError, match="Gong"):
        load_home(home, types)


def test_what_cannot_be_heated_is_a_wrong_object() -> None:
    robot = HomeRobot(load_home("apartment"))
    robot.execute(SkillCall("GoToObject", ("novel",)))
    robot.execute(SkillCall("PickupObject", ("novel",)))
    robot.execute(SkillCall("GoToObject", ("microwave",)))
    assert robot.execute(SkillCall("HeatObject", ("novel", "microwave"))).reason is FailureReason.WRONG_OBJECT
