"""Which classes the words account for, and which names are origins or goals."""

import pytest
from grammar import KINDS, READER, words
from spoken_home import EMPTY, KNOWN

from memory_node.planner.language.lexicon import Called
from memory_node.planner.language.licence import Licence, licence_of, meant_by
from memory_node.planner.language.roles import roles_of
from memory_node.planner.language.surroundings import HomeClasses


def licence(text: str, home: HomeClasses = KNOWN) -> Licence:
    return licence_of(words(text), READER.lexicon, READER.commands, home, KINDS)


@pytest.mark.parametrize("home", [KNOWN, EMPTY], ids=["known", "empty"])
def test_named_classes_count_whatever_memory_holds(home: HomeClasses) -> None:
    assert licence("put the mug in the fridge", home).named == {"Mug", "Fridge"}


def test_of_several_classes_the_known_ones_count() -> None:
    tables = HomeClasses(frozenset(), frozenset({"CoffeeTable"}))
    assert licence("the table", tables).named == {"CoffeeTable"}
    assert {"CoffeeTable", "DiningTable", "SideTable"} <= licence("the table", EMPTY).named


def test_second_name_counts_where_memory_holds_what_is_first_called_so() -> None:
    called = Called(("Cup",), ("Mug",))
    assert meant_by(called, EMPTY) == {"Cup"}
    assert meant_by(called, HomeClasses(frozenset({"Mug"}))) == {"Cup"}
    assert meant_by(called, HomeClasses(frozenset({"Cup", "Mug"}))) == {"Cup", "Mug"}


@pytest.mark.parametrize(
    ("text", "stands_for"),
    [("bring me a mug", "User"), ("throw the mug away", "GarbageCan"), ("look at the mug in the light", "FloorLamp")],
)
def test_words_without_a_name_stand_for_a_thing(text: str, stands_for: str) -> None:
    assert licence(text).named - {"LightSwitch"} == {"Mug", stands_for}


def test_description_may_mean_anything_and_a_name_may_not() -> None:
    assert licence("bring me something to drink from").open == ("something",)
    assert licence("bring me the mug").open == ()


def test_noun_that_names_nothing_is_unknown() -> None:
    found = licence("put the hammer in the drawer")
    assert found.unknown == ("the hammer",)
    assert found.named == {"Drawer"}


@pytest.mark.parametrize(
    ("text", "origins", "goals"),
    [
        ("take the knife out of the drawer", ["drawer"], []),
        ("take the knife off the table", ["table"], []),
        ("move the apple from the bowl onto the plate", ["bowl"], ["plate"]),
        ("grab the milk out the fridge", ["fridge"], []),
        ("go to the fridge", [], []),
        ("go over to the fridge", [], []),
        ("put the mug in the sink", [], []),
        ("frobnicate the mug into the sink", [], ["sink"]),
    ],
)
def test_prepositions_tell_origins_from_goals(text: str, origins: list[str], goals: list[str]) -> None:
    roles = roles_of(words(text), READER.commands)
    assert [phrase.head for phrase in roles.origins] == origins
    assert [phrase.head for phrase in roles.goals] == goals
