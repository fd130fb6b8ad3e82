"""One class has one name, however a detector, AI2-THOR or a person spells it."""

import pytest

from memory_node.catalogue.class_name import folded, spoken


@pytest.mark.parametrize("name", ["CounterTop", "counter_top", "counter top", "counter-top", "COUNTERTOP"])
def test_spellings_fold_into_one(name: str) -> None:
    assert folded(name) == "countertop"


@pytest.mark.parametrize(
    ("name", "words"),
    [("CoffeeMachine", "coffee machine"), ("cell_phone", "cell phone"), ("TVStand", "tv stand"), ("CD", "cd")],
)
def test_name_is_spoken_as_people_write_it(name: str, words: str) -> None:
    assert spoken(name) == words
