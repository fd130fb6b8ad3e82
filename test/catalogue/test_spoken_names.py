"""Which classes the names in a text stand for."""

import pytest

from memory_node.catalogue.class_name import folded, spoken
from memory_node.catalogue.label_space import load_catalogue


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("Slice an apple with a butter knife.", ["Apple", "ButterKnife"]),
        ("butter, knife", ["Butter", "Knife"]),
        ("Put the spray bottle beside the table lamp", ["SprayBottle", "DeskLamp"]),
        ("Put the mugs in the sink, then the mug", ["Mug", "SinkBasin", "Mug"]),
        ("come here", []),
        ("where is the switch on the wall", ["LightSwitch"]),
        ("switch on the lamp and find a switch", ["DeskLamp", "LightSwitch"]),
    ],
)
def test_name_within_a_longer_one_names_nothing(text: str, classes: list[str]) -> None:
    assert [names[0] for names in load_catalogue().spoken_names.named_in(text)] == classes


@pytest.mark.parametrize("name", ["CounterTop", "counter_top", "counter top", "counter-top", "COUNTERTOP"])
def test_spellings_fold_into_one(name: str) -> None:
    assert folded(name) == "countertop"


@pytest.mark.parametrize(
    ("name", "words"),
    [("CoffeeMachine", "coffee machine"), ("cell_phone", "cell phone"), ("TVStand", "tv stand"), ("CD", "cd")],
)
def test_name_is_spoken_as_people_write_it(name: str, words: str) -> None:
    assert spoken(name) == words
