"""Verbs that share the thing which only the last one names, and what other short forms of a command mean."""

import pytest
from plain_reading import read


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("wash and slice an apple", "clean Apple; slice Apple"),
        ("find and bring me the mug", "Mug at User"),
        ("pick up and throw away the box", "Box at GarbageCan"),
        ("wash, slice and cook two potatoes", "clean 2 Potato; slice 2 Potato; heat 2 Potato"),
        ("open and close the drawer", "open Drawer; close Drawer"),
        ("run and get me a cloth", "Cloth at User"),
        ("come and open the fridge", "open Fridge"),
    ],
)
def test_verbs_share_what_the_last_one_names(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("To cool the cup.", "cool Cup"),
        ("stack the CDs on the shelf", "all CD at Shelf"),
        ("put the potato in the pan and slice it", "Potato at Pan; slice Potato"),
        ("put a clean spatula down in front of the microwave", "clean Spatula; Spatula near Microwave"),
        ("put the egg on the edge of the sink", "Egg near SinkBasin"),
        ("put the egg on the edge of the coffee table", "Egg at CoffeeTable"),
        ("turn on the lamp on the dresser", "switch_on DeskLamp"),
    ],
)
def test_short_forms(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("put the phone in the safe and close the door", "CellPhone at Safe; close Safe"),
        ("open the fridge, then close the door", "open Fridge; close Fridge"),
        ("put the phone in the safe and close the bathroom door", "CellPhone at Safe; close Door"),
        ("put the phone on the desk and close the door", "CellPhone at Desk; close Door"),
    ],
)
def test_the_door_is_that_of_what_was_just_used(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize("text", ["fill the dog bowl", "put the pillow on the dog bed", "bring me two tea bags"])
def test_a_compound_that_is_no_class_here_is_asked_about(text: str) -> None:
    assert read(text).startswith("asks: I do not know what")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("give me my watch back", "Watch at User"),
        ("give the watch back", "Watch back"),
        ("bring the mug back to its spot for me", "Mug back"),
        ("where'd my basketball go?", "tell BasketBall place"),
        ("have a look whether I left the toaster on", "tell Toaster on"),
    ],
)
def test_giving_back_and_asking(text: str, meant: str) -> None:
    assert read(text) == meant
