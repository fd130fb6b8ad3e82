"""What tells a thing from others of its class is kept apart from its name; what was said in passing finds it."""

from __future__ import annotations

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.reading.described import PlainWords
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.understanding import Understander

READER = Understander(load_catalogue(), None, None)
HOME = HomeClasses(rooms=frozenset({"bedroom 1", "kitchen 1"}))
SAID = (
    "Put the vase on the shelf. The vase is white with a narrow neck. It was a gift from my best friend.",
    "Put the vase on the desk. The vase is blue, and the mug is green. The vase came from my grandmother.",
    "Move the book and the pencil to the desk. The book and pencil are part of my painting kit.",
    "Put the mug and the plate on the dining table. I always have them there for my afternoon tea.",
    "Put the candle and the book on the bed. We like this for a cozy evening.",
    "Put the pillow on the sofa. We like this for a quiet evening.",
    "Move the laptop and the pen from the bed to the desk. The laptop and the pen are part of my writing gear.",
    "Move the laptop and the cup from the shelf to the sofa. The laptop is silver. They are part of my writing gear.",
    "Put the newspaper on the bed. The newspaper is a torn gazette. The gazette is my favourite.",
)


def described(text: str) -> PlainWords:
    (part,) = READER.described(text, HOME, SAID)
    return part


@pytest.mark.parametrize(
    ("text", "plain", "looks"),
    [
        ("Put the mug on the desk.", "Put the mug on the desk.", {}),
        ("Put the mug that you washed on the desk.", "Put the mug that you washed on the desk.", {}),
        (
            "Put the tall mug with a chipped rim on the desk.",
            "put the mug on the desk .",
            {"Mug": {"tall", "chip", "rim"}},
        ),
        (
            "Bring the vase from my grandmother to the bedroom.",
            "bring the vase to the bedroom .",
            {"Vase": {"blue", "grandmoth", "came", "vase"}},
        ),
        (
            "Put the gift from my best friend on the shelf.",
            "put the vase on the shelf .",
            {"Vase": {"whit", "narrow", "neck", "gift", "best", "friend"}},
        ),
        (
            "Put my painting kit on the shelf.",
            "put the book and the pencil on the shelf .",
            {"Book": {"paint", "kit", "part"}},
        ),
        (
            "Put my writing gear from the shelf on the sofa.",
            "put the laptop and the cup from the shelf on the sofa .",
            {"Laptop": {"silv", "gear"}},
        ),
        (
            "Put my writing gear from the bed on the desk.",
            "put the laptop and the pen from the bed on the desk .",
            {"Pen": {"writ", "gear"}},
        ),
        (
            "Bring my favourite gazette to the bedroom.",
            "bring the newspaper to the bedroom .",
            {"Newspaper": {"torn", "gazett"}},
        ),
        (
            "Put the plate with a smooth, round rim on the desk, then the cup with a chipped rim.",
            "put the plate on the desk , then the cup .",
            {"Plate": {"smooth", "round", "rim"}, "Cup": {"chip", "rim"}},
        ),
        (
            "Put the book with a torn cover next to the vase from my grandmother.",
            "put the book next to the vase .",
            {"Book": {"torn", "cover"}, "Vase": {"grandmoth"}},
        ),
    ],
)
def test_words_beside_a_name_are_kept_apart(text: str, plain: str, looks: dict[str, set[str]]) -> None:
    found = described(text)
    assert found.text == plain
    for name, words in looks.items():
        assert words <= found.looks[name]
    assert bool(found.looks) is bool(looks)
    assert found.renamed is (text.startswith(("Put the gift", "Put my", "Bring my")))
    assert not found.occasion


def test_occasion_among_other_sentences_is_a_part_by_itself() -> None:
    parts = READER.described("Put the cup on the bed. Could you prepare my afternoon tea? Put it away.", HOME, SAID)
    assert [bool(part.occasion) for part in parts] == [False, True, False]


def test_occasion_on_which_a_named_thing_was_not_handled_is_another() -> None:
    assert not described("Prepare the spoon for my afternoon tea.").occasion


def test_occasion_stands_for_what_was_done_on_it() -> None:
    found = described("Could you prepare my afternoon tea?")
    assert (found.text, found.occasion) == ("Put the mug and the plate on the dining table.", SAID[3])


@pytest.mark.parametrize("text", ["Prepare my evening.", "Prepare my breakfast.", "Put them there."])
def test_occasion_that_is_not_clear_stays_as_it_is(text: str) -> None:
    found = described(text)
    assert not found.looks
    assert not found.occasion
    assert READER.understand(found.text, HOME).question is not None


def test_two_things_of_a_kind_are_unclear() -> None:
    assert described("Put the white vase next to the blue vase.").unclear == {"Vase"}
