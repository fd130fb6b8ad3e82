"""Names of things, groups and rooms are found among words, whatever their number and however they are written."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.lexicon import Lexicon

ROOMS = ("kitchen", "living room")


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon(load_catalogue(), ROOMS)


@pytest.mark.parametrize(
    ("words", "object_class", "length"),
    [
        ("mugs", "Mug", 1),
        ("dining table by the door", "DiningTable", 2),
        ("phone", "CellPhone", 1),
        ("knives", "Knife", 1),
        ("keys", "KeyChain", 1),
        ("letuce", "Lettuce", 1),
        ("coffeemug", "Mug", 1),
        ("writingdesks", "Desk", 1),
        ("cart", "Cart", 1),
    ],
)
def test_name_means_its_class(lexicon: Lexicon, words: str, object_class: str, length: int) -> None:
    found = lexicon.name_at(words.split(), 0)
    assert found is not None
    assert (found[0].all[0], found[1]) == (object_class, length)


def test_name_of_several_classes_gives_all(lexicon: Lexicon) -> None:
    found = lexicon.name_at(["table"], 0)
    assert found is not None
    assert {"CoffeeTable", "DiningTable", "SideTable"} <= set(found[0].all)
    assert found[0].own == ()


def test_noun_that_names_nothing_is_not_guessed(lexicon: Lexicon) -> None:
    assert lexicon.name_at(["hammer"], 0) is None
    assert lexicon.name_at(["cut"], 0) is None  # not "cup": only wrongly doubled letters are mended


def test_room_is_found_by_its_longest_name(lexicon: Lexicon) -> None:
    assert lexicon.room_at(["living", "room"], 0) == ("living room", 2)
    assert lexicon.room_at(["living"], 0) is None


def test_rooms_of_memory_are_learnt(lexicon: Lexicon) -> None:
    assert lexicon.room_at(["sewing", "parlour"], 0) is None
    lexicon.learn_rooms(["Sewing Parlour", ""])
    assert lexicon.room_at(["sewing", "parlour"], 0) == ("sewing parlour", 2)


def test_group_word_means_its_classes(lexicon: Lexicon) -> None:
    fruit = lexicon.group("fruit")
    assert fruit is not None
    assert "Apple" in fruit
    assert lexicon.group("thing") == ()
    assert lexicon.group("mug") is None


def test_names_that_look_like_plurals_are_known(lexicon: Lexicon) -> None:
    assert lexicon.is_plural_name("keys")
    assert not lexicon.is_plural_name("mugs")


def test_classes_of_another_label_space_are_named() -> None:
    found = Lexicon(load_catalogue("coco"), ROOMS).name_at(["wine", "glasses"], 0)
    assert found is not None
    assert found[0].all[0] == "wine glass"
