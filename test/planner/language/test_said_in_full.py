"""Every word of a command counts: what is taken back, what cannot be done, and what tells no thing at all."""

import pytest
from grammar import KINDS

from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.understanding import Understander

UNDERSTANDER = Understander(KINDS, None, None)


def read(text: str) -> str:
    """Return the effects that are read, or "question"."""
    understood = UNDERSTANDER.understand(text)
    return "question" if understood.question is not None else "; ".join(effects(understood.goals))


@pytest.mark.parametrize(
    "text",
    [
        "turn on the TV. Oh wait, don't",
        "bring me the cup... never mind",
        "bring me the cup. Forget it",
        "wash the pan, or actually don't",
        "slice the bread. Hold on, stop",
        "bring me the cup, I'll do it myself",
    ],
)
def test_what_is_called_off_is_not_done(text: str) -> None:
    assert read(text) == "stop"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("go to the kitchen and stop", "go kitchen; stop"),
        ("don't bother with the cup, bring me the mug", "Mug at User"),
    ],
)
def test_what_is_not_called_off_is_done(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "put the milk in the fridge",
        "fill the microwave",
        "put whatever is on the stool on the bed",
        "bring me the thing on the desk",
        "get out of the kitchen",
        "turn the TV down a bit",
        "flip the egg in the pan",
    ],
)
def test_what_names_no_thing_or_no_deed_is_asked_about(text: str) -> None:
    assert read(text) == "question"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("turn off the water", "switch_off Faucet"),
        ("turn the water off in the shower", "switch_off ShowerHead"),
        ("turn on the TV with the remote", "switch_on Television"),
        ("use the remote to switch on the TV", "switch_on Television"),
        ("fill the pot halfway with water", "fill Pot"),
        ("fill the sink with water", "fill SinkBasin"),
        ("look at the pen for me", "examine Pen with DeskLamp"),
        ("bring the watering can back to its spot", "WateringCan back"),
        ("put the apple in the fridge to cool it down", "Apple at Fridge"),
        ("before you go to the kitchen, close the laptop", "close Laptop; go kitchen"),
        ("close the laptop before you go", "close Laptop"),
        ("flip the laptop open", "open Laptop"),
        ("switch the desk lamp on to see better", "switch_on DeskLamp"),
    ],
)
def test_place_tool_and_purpose(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("I'd like the tomato sliced thinly", "slice Tomato"),
        ("the knife you just washed goes in the drawer", "Knife at Drawer"),
        ("is the apple sliced already?", "tell Apple sliced"),
        ("has the apple been washed already?", "tell Apple clean"),
        ("is the window in the bedroom open?", "tell Window open"),
        ("peel the potatoes and boil them", "slice all Potato; heat all Potato"),
    ],
)
def test_states(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("put the cup in the fridge. Wait, I meant the bowl", "Bowl at Fridge"),
        ("put the cup on the desk. Sorry, I meant the shelf", "Cup at Shelf"),
        ("put the apple in the fridge, er, the bowl", "Apple at Bowl"),
    ],
)
def test_correction_takes_the_place_of_its_like(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("take any cup except the one on the desk", "fetch Cup"),
        ("turn off every lamp except the floor lamp", "switch_off all DeskLamp; switch_off all Lamp"),
        ("wash all the dishes other than the plate", "clean all Bowl"),
        ("bring me a fruit other than an apple", "Tomato at User"),
        ("put everything except the plate in the sink", "question"),
        ("put all the books except the red one on the shelf", "question"),
    ],
)
def test_what_is_left_out_by_name(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("gather all the pens and pencils and put them in the box", "all Pen at Box; all Pencil at Box"),
        ("open all the curtains and blinds", "open all Curtains; open all Blinds"),
        ("take two apples and an egg and put them in the bowl", "2 Apple at Bowl; Egg at Bowl"),
        ("boil me two eggs", "heat 2 Egg; 2 Egg at User"),
        ("could the pillows be moved to the armchair?", "all Pillow at ArmChair"),
    ],
)
def test_as_many_as_are_said(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("turn the lamp on the desk off and on again", "switch_off DeskLamp; switch_on DeskLamp"),
        ("turn the oven on, then off again", "switch_on Oven; switch_off Oven"),
        ("pour me a cup of coffee", "fill Cup; Cup at User"),
        ("pour the cup of coffee into the sink", "empty Cup"),
        ("pour me a glass of wine", "question"),
        ("close the safe after you put the watch in it", "Watch at Safe; close Safe"),
        ("bring the book which I was reading yesterday", "Book at User"),
        ("bring me the cup I was drinking from", "Cup at User"),
        ("which drawer are the forks in?", "tell Fork place"),
        ("do we still have butter?", "tell Butter exists"),
        ("have you washed the pan yet?", "tell Pan clean"),
    ],
)
def test_said_in_passing(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("turn off the stove, then the oven, then come here", "switch_off StoveBurner; switch_off Oven; go User"),
        ("put the eggs in the fridge, but wash them first", "clean all Egg; all Egg at Fridge"),
        ("dump the water out of the pot", "empty Pot"),
        ("empty the bowl into the garbage can", "empty Bowl"),
        ("the vase needs fresh water", "fill Vase"),
        ("open the fridge and see if there's any butter", "open Fridge; tell Butter exists"),
        ("look at my watch under the lamp on the desk", "examine Watch with DeskLamp"),
        ("get me the cup with the broken handle", "Cup at User"),
        ("turn off the lamp, not the desk lamp, the floor lamp", "switch_off FloorLamp"),
        ("place the vase next to the lamp on the desk", "Vase near DeskLamp"),
        ("hey robot, what's in the fridge?", "tell Fridge contents"),
        ("can the alarm clock go on the dresser?", "AlarmClock at Dresser"),
        ("did you find my watch?", "tell Watch place"),
        ("could you tell me where I might find a pen?", "tell Pen place"),
    ],
)
def test_no_part_is_left_out(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize("text", ["put the food in the fridge", "pour the tea from the kettle into the mug"])
def test_what_could_be_several_or_cannot_be_done_is_asked_about(text: str) -> None:
    assert read(text) == "question"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hold still", "stop"),
        ("run the cup under the tap", "clean Cup"),
        ("pour water over the plant", "fill HousePlant"),
        ("bring over the laptop", "Laptop at User"),
        ("throw out the coffee in my cup", "empty Cup"),
        ("not the bowl, put the plate in the sink", "Plate at SinkBasin"),
        ("could you, if you're not too busy, bring me the newspaper", "Newspaper at User"),
        ("mate, grab us a fork would you", "Fork at User"),
        ("where do you think my pen is?", "tell Pen place"),
        ("did you already wash the apple?", "tell Apple clean"),
        ("is there any food in the fridge?", "tell Fridge contents"),
        ("unload the dishwasher", "question"),
        ("put half of the eggs in the bowl", "question"),
    ],
)
def test_other_words_for_the_same(text: str, meant: str) -> None:
    assert read(text) == meant
