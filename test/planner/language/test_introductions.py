"""However a command is introduced, it is the same command, and talk is none."""

import pytest
from plain_reading import read

COMMANDS = [
    ("open the curtains and turn off the floor lamp", "open Curtains; switch_off FloorLamp"),
    ("get me a glass of water", "fill Cup; Cup at User"),
    ("halve the potatoes and drop them into the pot", "slice all Potato; all Potato at Pot"),
    ("take this plate away", "fetch Plate"),
    ("drop the pillow", "drop Pillow"),
]


@pytest.mark.parametrize(
    "introduction",
    [
        "I was wondering if you could {}",
        "it would be great if you could {}",
        "if you could {}, that would be great",
        "could I get you to {}?",
        "you're supposed to {}",
        "the next job is to {}",
        "my request: {}",
        "somebody has to {}",
        "mind if I ask you to {}?",
        "what you have to do next is to {}",
    ],
)
@pytest.mark.parametrize(("command", "meant"), COMMANDS)
def test_introduction_changes_nothing(introduction: str, command: str, meant: str) -> None:
    assert read(introduction.format(command)) == meant


def test_kind_words_behind_a_command_are_left_out() -> None:
    assert read("drop the pillow if you could, please, and open the door") == "drop Pillow; open Door"


def test_question_mark_of_a_request_makes_no_question_of_its_second_half() -> None:
    said = "could you switch the coffee machine on and the toaster off?"
    assert read(said) == "switch_on CoffeeMachine; switch_off Toaster"


@pytest.mark.parametrize(
    "text", ["that would be great", "did I ask you to wash the cup?", "I asked you whether you did"]
)
def test_no_command_is_made_of_talk(text: str) -> None:
    assert read(text).startswith("asks: ")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("put the cup in the sink without washing it", "Cup at SinkBasin"),
        ("put down what you have in your hands", "drop"),
        ("set down whatever you've got there", "drop"),
        ("get rid of all the tissue boxes for us", "all TissueBox at GarbageCan"),
        ("switch on the light of the desk", "switch_on DeskLamp"),
        ("put both the apple and the tomato in the bowl", "Apple at Bowl; Tomato at Bowl"),
        ("wash both forks and the knife", "clean 2 Fork; clean Knife"),
        ("only one of the two spoons goes in the sink", "Spoon at SinkBasin"),
        ("load the dishwasher with the plates", "all Plate at Dishwasher"),
        ("start the dishwasher after putting the plate in", "Plate at Dishwasher; switch_on Dishwasher"),
        ("put the spoon next to the bowl on the dining table", "Spoon near Bowl"),
        ("put the book next to the laptop into the box", "Book at Box"),
        ("get the wine nice and cold", "cool WineBottle"),
        ("is anything in the microwave?", "tell Microwave contents"),
        ("I want you to open the garage door", "open Door"),
        ("set the toaster going", "switch_on Toaster"),
    ],
)
def test_what_every_word_adds_is_kept(text: str, meant: str) -> None:
    assert read(text) == meant
