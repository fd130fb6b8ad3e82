"""What the catalogue answers about kinds that belong together and about what verbs need."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill_declaration import Appliance
from memory_node.domain.skill_library import GoalKind


@pytest.fixture
def catalogue() -> ObjectCatalogue:
    return load_catalogue()


def test_food_hides_in_the_fridge_and_pens_in_cabinets(catalogue: ObjectCatalogue) -> None:
    assert catalogue.hiding_places("Tomato")[0] == "Fridge"
    assert catalogue.hiding_places("Pen")[0] == "Cabinet"


def test_pieces_know_their_whole(catalogue: ObjectCatalogue) -> None:
    assert catalogue.whole("EggCracked") == "Egg"
    assert catalogue.whole("Mug") == "Mug"


def test_part_comes_with_its_whole(catalogue: ObjectCatalogue) -> None:
    assert catalogue.with_wholes(["SinkBasin", "Mug"]) == ("SinkBasin", "Sink", "Mug")


@pytest.mark.parametrize(
    ("name", "appliance"),
    [
        ("SinkBasin", Appliance("SinkBasin@1,2,3", switch="Faucet")),
        ("Microwave", Appliance("SinkBasin@1,2,3", opens=True, switch="SinkBasin@1,2,3")),
        ("Fridge", Appliance("SinkBasin@1,2,3", opens=True)),
        ("StoveBurner", Appliance("SinkBasin@1,2,3", switch="SinkBasin@1,2,3")),
    ],
)
def test_steps_depend_on_door_and_switch(catalogue: ObjectCatalogue, name: str, appliance: Appliance) -> None:
    assert catalogue.appliance(name, "SinkBasin@1,2,3") == appliance


def test_skills_need_what_their_treatments_need(catalogue: ObjectCatalogue) -> None:
    needs = catalogue.needs_of_skills()
    assert set(needs["SliceObject"]) == set(catalogue.able(Property.CUTS))
    assert {"Toaster", "StoveBurner", "Microwave"} <= set(needs["HeatObject"])


def test_first_treatment_is_the_usual_one(catalogue: ObjectCatalogue) -> None:
    usual = catalogue.usual_treatment(GoalKind.HEAT)
    assert usual.name == "heat"
    assert catalogue.usual_treatment(GoalKind.PLACE) is None
