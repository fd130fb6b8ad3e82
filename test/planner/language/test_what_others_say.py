"""What people who did not write the grammar say, each sentence with the effects of its goals."""

import pytest
from plain_reading import read

ROOMS_AND_PLACES = {
    "Carry the basketball to the bedroom.": "BasketBall at bedroom",
    "Into the living room with the footstool.": "Footstool at living room",
    "Put the book on the desk in the bedroom.": "Book at Desk",
    "Put the towel in the bathroom on the towel holder.": "Towel at TowelHolder",
    "Take the book to the bedroom, leave it on the bed and come back.": "Book at Bed; go User",
    "Put the pan on the back burner and turn the burner on.": "Pan at StoveBurner; switch_on StoveBurner",
    "Put the fork with the knife.": "Fork near Knife",
    "You can put my mug right beside the laptop.": "Mug near Laptop",
    "Throw away the newspaper on the floor.": "Newspaper at GarbageCan",
    "Lead me to the bathroom.": "go bathroom",
}
LIGHTS = {
    "Turn off the light.": "switch_off LightSwitch",
    "Lights out, please.": "switch_off all LightSwitch",
    "Put the light on in the hallway.": "switch_on LightSwitch",
    "Turn on the light on the desk.": "switch_on DeskLamp",
    "Turn off the bedside light.": "switch_off DeskLamp",
    "Is the bathroom light still burning?": "tell LightSwitch on",
}
WISHES = {
    "Can I have a spoon from the drawer by the stove?": "Spoon at User",
    "I want a fork, a knife and a spoon.": "Fork at User; Knife at User; Spoon at User",
    "I need two forks and two spoons.": "2 Fork at User; 2 Spoon at User",
    "Heat a potato and serve it on a plate.": "heat Potato; Potato at Plate",
    "A knife will do.": "Knife at User",
}
REASONS = {
    "I've just had a shower, could you hand me a towel?": "Towel at User",
    "Someone left the book on the toilet, move it to the counter.": "Book at CounterTop",
    "Somebody has drawn on the mirror, so please wipe it.": "clean Mirror",
    "Let me through, open the bedroom door.": "open Door",
    "Fill the kettle and put it on the stove, I fancy a cup of tea.": "fill Kettle; Kettle at StoveBurner",
    "Turn on the floor lamp, but leave the desk lamp off.": "switch_on FloorLamp",
    "Chop the lettuce, but leave the tomato whole.": "slice Lettuce",
    "The foil lives in the drawer, put it there.": "AluminumFoil at Drawer",
}
TAKEN_BACK = {
    "Bring the pen to me, no, I mean the pencil.": "Pencil at User",
    "Open, no, close the dishwasher.": "close Dishwasher",
    "Slice the apple, hmm, no, make that the potato.": "slice Potato",
    "Put the egg in the fridge, actually no, boil it.": "heat Egg",
    "Turn off the television and the floor lamp, no, leave the lamp on.": "switch_off Television",
    "Close the drawer. Actually, leave it open.": "open Drawer",
    "Put my boots in the wardrobe, no, hang on, leave them beside the front door.": "Boots near Door",
}
ASKED = {
    "Count the pillows on the bed.": "tell Pillow count",
    "I can't find my keys anywhere, where are they?": "tell KeyChain place",
    "May I ask what's in that drawer?": "tell Drawer contents",
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [case for cases in (ROOMS_AND_PLACES, LIGHTS, WISHES, REASONS, TAKEN_BACK, ASKED) for case in cases.items()],
)
def test_is_read_as_meant(text: str, wanted: str):
    assert read(text) == wanted


@pytest.mark.parametrize("text", ["Take the stool to.", "Put the mug on the.", "Use up the soap.", "Wash it, no."])
def test_what_breaks_off_is_asked_about(text: str):
    assert "asks: " in read(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("How many stools are there?", "tell Stool count"),
        ("How many chairs and stools are there?", "tell Chair count; tell Stool count"),
        ("Is there a mug or a cup?", "tell Mug exists; tell Cup exists"),
        ("Where are my keys and my phone?", "tell KeyChain place; tell CellPhone place"),
        ("Go to the bedroom and leave the teddy bear there.", "TeddyBear at bedroom"),
        ("Have a look at the watch under the desk lamp, would you?", "examine Watch with DeskLamp"),
        ("Stand the alarm clock on the nightstand, next to the vase.", "AlarmClock at SideTable"),
        ("Find the remote control, it ought to be on the sofa.", "find RemoteControl"),
        ("Get rid of the foil on the counter.", "AluminumFoil at GarbageCan"),
        (
            "The salt and the pepper belong on the dining table.",
            "SaltShaker at DiningTable; PepperShaker at DiningTable",
        ),
        ("The bread and the butter are on the desk, put them in the fridge.", "Bread at Fridge; Butter at Fridge"),
        ("Close the microwave, somebody has left it open again.", "close Microwave"),
        ("Is the kettle full, or do I have to fill it?", "tell Kettle full"),
        ("Put three plates in the cabinet, no, make that five.", "5 Plate at Cabinet"),
        ("Load all the plates into the dishwasher but leave the pans out.", "all Plate at Dishwasher"),
    ],
)
def test_asked_told_and_left_alone(text: str, wanted: str):
    assert read(text) == wanted
