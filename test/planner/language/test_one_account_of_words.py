"""What words say besides names: kinds of compounds, shares of several things, and what cannot be done."""

import pytest
from plain_reading import read


@pytest.mark.parametrize(
    "text",
    [
        "put the key card on the desk",
        "throw away the tissue paper",
        "bring me the egg salad",
        "bring me the roll of tape",
        "put the carton of milk in the fridge",
        "put the hot plate in the sink",
        "bring me a piece of paper",
    ],
)
def test_second_name_told_by_another_noun_is_asked_about(text: str) -> None:
    assert read(text).startswith("asks")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("put the sofa cushion on the bed", "Pillow at Bed"),
        ("bring me the trash bag", "Bag at User"),
        ("bring me the house keys", "KeyChain at User"),
        ("bring me a glass of milk", "Cup at User"),
        ("put the pan on the left burner", "Pan at StoveBurner"),
    ],
)
def test_compound_with_its_own_name_means_its_class(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("put one book on the shelf and the other on the desk", "Book at Shelf; Book at Desk"),
        ("put two mugs on the dining table and one on the desk", "2 Mug at DiningTable; Mug at Desk"),
        ("put the red pillow on the bed and the blue one on the sofa", "Pillow at Bed; Pillow at Sofa"),
        ("put one pen in the mug, the other in the drawer", "Pen at Mug; Pen at Drawer"),
    ],
)
def test_each_share_has_its_own_place(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "give me four eggs, two in the bowl and two in the pan",
        "bring three candles and leave one here",
        "bring the plates, all but the cracked one",
    ],
)
def test_share_that_words_leave_open_is_asked_about(text: str) -> None:
    assert read(text).startswith("asks")


@pytest.mark.parametrize(
    "text",
    [
        "draw me a bath",
        "drain the potatoes",
        "heat the milk in the microwave",
        "put the juice in the bag",
        "put the milk in the cup",
        "drop the beer on the shelf",
        "throw the drawer handle away",
        "leave the mug here",
    ],
)
def test_what_cannot_be_done_is_asked_about(text: str) -> None:
    assert read(text).startswith("asks")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("draw the curtains", "close Curtains"),
        ("open the window", "open Window"),
        ("close the toilet", "close Toilet"),
        ("empty the soap bottle", "empty SoapBottle"),
        ("put some water in the mug", "fill Mug"),
        ("lift the toilet lid", "open Toilet"),
    ],
)
def test_what_can_be_done_is_done(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hand towel in the pan", "HandTowel at Pan"),
        ("scrub brush in the drawer", "ScrubBrush at Drawer"),
        ("hand me the towel", "Towel at User"),
        ("go look in the fridge for butter", "find Butter"),
        ("look under the bed for my boots", "find Boots"),
        ("would you be so kind as to open the curtains?", "open Curtains"),
        ("I should like my book, it is on the side table", "Book at User"),
        ("my phone fell behind the bed, get it", "fetch CellPhone"),
        ("not the mug, the glass. Put it in the cabinet.", "Cup at Cabinet"),
    ],
)
def test_plain_words_are_read(text: str, meant: str) -> None:
    assert read(text) == meant
