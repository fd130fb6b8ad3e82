"""What ships: the household's kinds, and COCO's classes with the same knowledge."""

import pytest

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill_library import GOAL_OF_SKILL, SKILLS

_COCO = (
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,parking meter,"
    "bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,frisbee,"
    "skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,"
    "wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,"
    "chair,couch,potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,"
    "toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush"
)


@pytest.fixture(params=["household", "coco"])
def shipped(request: pytest.FixtureRequest) -> ObjectCatalogue:
    return load_catalogue(request.param)


def test_coco_has_its_eighty_classes() -> None:
    catalogue = load_catalogue("coco")
    assert len(_COCO.split(",")) == 80
    assert [name for name in _COCO.split(",") if catalogue.get(name) is None] == []


def test_every_skill_that_treats_things_has_a_usual_way(shipped: ObjectCatalogue) -> None:
    for goal in GOAL_OF_SKILL.values():
        usual = shipped.usual_treatment(goal)
        ability = SKILLS[usual.skill].tool_ability
        # Nothing of COCO wipes: there the planner refuses, where another label space must name what serves.
        can = not ability or any(kind.satisfies(ability) for kind in shipped)
        assert bool(usual.at or usual.tools) is can, f"{shipped.name}: {goal} has no place and no tool"


def test_every_class_is_found_by_its_own_name(shipped: ObjectCatalogue) -> None:
    for kind in shipped:
        assert shipped.find(kind.name) is kind


def test_no_stranger_is_called_like_a_class(shipped: ObjectCatalogue) -> None:
    """A stranger with the name of a class would compete with it for every request."""
    called = {folded(name) for kind in shipped for name in (kind.name, *kind.names)}
    assert [name for name in shipped.strangers if folded(name) in called] == []


def test_what_takes_a_tap_to_work_has_one_or_is_alone(shipped: ObjectCatalogue) -> None:
    basins = shipped.able(Property.DRAINS)
    assert basins
    for name in basins:
        by = shipped[name].switched_by
        assert not by or shipped[by].can(Property.WATERS)


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("couch", "Sofa"),
        ("refrigerator", "Fridge"),
        ("freezer", "Fridge"),
        ("stove", "Stove"),
        ("counter", "CounterTop"),
        ("bookcase", "Shelf"),
        ("closet", "Wardrobe"),
        ("washing_machine", "WashingMachine"),
        ("countertop", "CounterTop"),
        ("stoveburner", "StoveBurner"),
        ("cell phone", "CellPhone"),
        ("tv", "Television"),
        ("toiletpaperroll", "ToiletPaper"),
        ("wine_bottles", "WineBottle"),
    ],
)
def test_other_spellings_are_known(label: str, kind: str) -> None:
    found = load_catalogue("household").find(label)
    assert found.name == kind


@pytest.mark.parametrize("label", ["shaker", "thing", "spaceship", "notch", ""])
def test_word_for_several_classes_or_none_is_no_class(label: str) -> None:
    assert load_catalogue("household").find(label) is None


def test_unknown_class_can_be_carried_and_no_more() -> None:
    kind = load_catalogue("household")["gadget_x"]
    assert kind.properties == {Property.PICKUPABLE}
    assert kind.names == ("gadget x",)


def test_coco_knows_the_same_of_its_classes() -> None:
    household, coco = load_catalogue("household"), load_catalogue("coco")
    assert coco["couch"].properties == household["Sofa"].properties
    assert coco["sink"].can(Property.DRAINS)
    assert coco.spoken_names.classes("mug") == ("cup",)
    assert coco.whole(coco["banana"].slices) == "banana"
    assert coco.recipient == "person"
