"""Where a thing goes is what is said: not what stands there, not under, between two, and one stop after the other."""

import pytest
from plain_reading import UNDERSTANDER, read

from memory_node.planner.language.conversation import Conversation
from memory_node.planner.language.goal_effects import effects


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("my green pen goes in the mug on my desk", "Pen at Mug"),
        ("put the apple in the bowl on the shelf", "Apple at Bowl"),
        ("place a spoon in a mug on the shelf", "Spoon at Mug; Mug at Shelf"),
        ("place the wine in the fridge, on the second shelf", "WineBottle at Fridge"),
        ("put the candle between the vase and the statue", "Candle near Vase"),
        ("bring me the big pot from the cabinet over the stove", "Pot at User"),
        ("go to the bathroom and then to the kitchen", "go bathroom; go kitchen"),
        ("go to the bathroom, then the kitchen", "go bathroom; go kitchen"),
        ("put the cup in the sink no the mug", "Mug at SinkBasin"),
        ("put the pen in the drawer, no, the pencil", "Pencil at Drawer"),
        ("put the mug in the fridge, no, the cabinet", "Mug at Cabinet"),
    ],
)
def test_place_is_the_one_that_is_said(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "close whatever is open in the kitchen",
        "could we have some light?",
        "give the remote to whoever is on the sofa",
        "put the saucepan lid back on the pan",
        "put the lid of the pan on the pot",
        "put each book on its own shelf",
        "fill the bowl with apples",
        "put the book anywhere but on the bed",
        "carve the mug",
        "stop cleaning the mug",
        "give me all of the candles but one",
        "put a pillow at each end of the sofa",
    ],
)
def test_thing_that_no_word_tells_from_others_is_asked_about(text: str) -> None:
    assert read(text).startswith("asks: ")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("find a pencil and a book", "find Pencil; find Book"),
        ("bring me one fork, two knives and three spoons", "Fork at User; 2 Knife at User; 3 Spoon at User"),
        ("wash the mug, not the cup", "clean Mug"),
        ("cut the potatoes, all three", "slice 3 Potato"),
        ("take the big bowl, leave the small one", "fetch Bowl"),
    ],
)
def test_each_thing_of_a_row_is_handled(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize("answer", ["yes", "beside the bed", "on the bed"])
def test_nothing_is_put_under_furniture_without_asking(answer: str) -> None:
    conversation = Conversation()
    asked = UNDERSTANDER.understand("slide the box under the bed", conversation=conversation)
    assert asked.question is not None
    assert "under the bed" in asked.question.text
    answered = UNDERSTANDER.understand(answer, conversation=conversation)
    assert effects(answered.goals) == ("Box at Bed" if answer == "on the bed" else "Box near Bed",)
