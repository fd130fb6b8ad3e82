"""Numbers, "all", answers and second names: what a command says is kept, or it is asked about."""

import pytest
from grammar import KINDS

from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.lexicon import Called
from memory_node.planner.language.licence import meant_by
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander

UNDERSTANDER = Understander(KINDS, None, None)


def read(text: str) -> str:
    """Return the effects that are read, or "question"."""
    understood = UNDERSTANDER.understand(text)
    return "question" if understood.question is not None else "; ".join(effects(understood.goals))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("bring me three of the four spoons", "3 Spoon at User"),
        ("slice two of the three tomatoes", "slice 2 Tomato"),
        ("put all three candles on the dresser", "3 Candle at Dresser"),
        ("cut the bread into four slices", "slice Bread"),
        ("boil the potatoes for twenty minutes", "heat all Potato"),
        ("take away the plates from the table and wash", "clean all Plate"),
        ("put the books on two shelves", "all Book at Shelf"),
    ],
)
def test_number_that_is_said_is_kept(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "put all books but one on the shelf",
        "put an apple in each bowl",
        "take two of the pencils but not the yellow one to the desk",
        "close drawer three",
    ],
)
def test_number_that_no_goal_has_is_asked_about(text: str) -> None:
    assert read(text) == "question"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("check if the window is closed and if not close it", "close Window"),
        ("is the laptop open? If so, close it.", "close Laptop"),
        ("see if the oven is on, and if it is, turn it off", "switch_off Oven"),
        ("is there any bread left, and if so, toast two slices", "question"),
        ("my keys should be in the safe. Are they?", "question"),
    ],
)
def test_what_depends_on_the_answer_is_done_or_asked_about(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("get a bowl no two bowls from the cabinet", "fetch 2 Bowl"),
        ("bring me the apple no wait the egg", "Egg at User"),
        ("put it on the shelf, the statue I mean", "question"),
    ],
)
def test_correction_without_a_mark_counts(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("open the jar", "question"),
        ("hold the door", "question"),
        ("get the door", "open Door"),
        ("fetch my glasses", "question"),
        ("put the glasses in the sink", "all Cup at SinkBasin"),
        ("fetch the reading glasses", "question"),
        ("the soap bar, it is finished, throw", "question"),
        ("wait here with the cup", "question"),
        ("lay the towel over the chair", "Towel at Chair"),
        ("put my boots over there by the dresser", "Boots near Dresser"),
        ("throw the wet towel into the hamper", "Towel at LaundryHamper"),
    ],
)
def test_verb_and_thing_are_not_swapped(text: str, meant: str) -> None:
    assert read(text) == meant


def test_second_name_accounts_for_a_class_only_where_nobody_can_be_asked() -> None:
    cup, home = Called(("Cup",), ("Mug",)), HomeClasses(frozenset({"Cup", "Mug"}))
    assert meant_by(cup, home) == {"Cup", "Mug"}
    assert meant_by(cup, home, asks=True) == {"Cup"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("I'd like my book and my pen, please", "Book at User; Pen at User"),
        ("the vase, put it on the shelf", "Vase at Shelf"),
        ("open the fridge. Actually no, open the cabinet", "open Cabinet"),
        ("set out four bowls on the counter", "4 Bowl at CounterTop"),
        ("where do you keep the spatula?", "tell Spatula place"),
    ],
)
def test_thing_that_no_command_is_about_is_asked_about(text: str, meant: str) -> None:
    assert read(text) == meant
