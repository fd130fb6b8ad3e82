"""Words that nobody taught the robot: where one of them matters, a question is asked, whatever memory holds."""

import pytest
from spoken_home import HOMES, KNOWN

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.open_planner import open_understander

UNDERSTANDER = open_understander(load_catalogue(), None)
ASKED = [
    "blorp the floor lamp",
    "blorp the egg into the bowl",
    "blorp five potatoes in the bowl",
    "drop the flumbert",
    "stop the flumbert and wash the mug",
    "cut the apple with a flumbert",
    "bake the potato in the flumbert",
    "put the mug in the flumbert",
    "bring the mug to Anna",
    "come back to the flumbert",
    "wash the mug and bring it to me on a flumbert",
    "bring me an apple and a flumbert",
    "flumbert off, floor lamp on",
    "bring Anna three forks",
    "my flumbert should be under the bed, get it",
    "there is a flumbert in the drawer, could you fetch it?",
    "I spilt some flumbert, wipe it up",
    "do not peel the potato and slice it",
    "don't heat the bread, then bring it to me",
    "don't move to the bed",
    "don't move the mug to the bed",
    "turn that thing off, I can't hear",
    "cut the bread, and butter it",
    "put the milk back in the fridge without breaking anything",
    "put the pen in the mug without the spoon",
    "bring the teddy to her",
    "my daughter wants the teddy, bring it to her",
    "the car door is open, close it",
    "refill the soap dispenser",
    "turn off the tap, dry your hands and come here",
    "turn on the mug",
    "put out the trash",
    "take the rubbish out",
    "fill the plate",
    "fill the cup with juice",
    "turn the stove knob",
    "put the mug on the floor",
    "fill the box",
    "I want you to move the vase a bit to the left",
    "I want you to throw away all the newspapers except today's",
    "would it be possible to get three potatoes out and wash them?",
    "wash the dishes without breaking anything",
    "you shouldn't warm an egg and put it on the plate",
    "there is no need to open the curtains and turn off the floor lamp",
    "Anna will put the cup in the sink",
    "I will stick the wine in the fridge myself",
]


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_what_could_only_be_guessed_is_asked(text: str, home: HomeClasses) -> None:
    found = UNDERSTANDER.understand(text, home)
    assert found.goals == ()
    assert found.question is not None


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("close the fridge, the cat is a flumbert", ["close Fridge"]),
        ("my flumbert is cold, bring me a mug", ["place Mug to User"]),
        ("wash the fork that fell on the floor", ["clean Fork"]),
        ("set the pillow that the cat was sleeping on onto the bed", ["place Pillow to Bed"]),
        ("put my laptop and my phone on the bed", ["place Laptop to Bed", "place CellPhone to Bed"]),
        ("I'd be grateful if you washed the mug", ["clean Mug"]),
        ("I'd be glad if the fridge were closed", ["close Fridge"]),
        ("take the mug off", ["fetch Mug"]),
        ("stick the floor lamp on", ["switch_on FloorLamp"]),
        ("floor lamp off?", ["tell FloorLamp off"]),
        ("the mug, you take from the shelf and put on the bed", ["place Mug to Bed"]),
        ("come back to the kitchen", ["go kitchen"]),
        ("do not forget to close the fridge", ["close Fridge"]),
        ("take my phone to the bedroom, on the bed", ["place CellPhone to Bed"]),
        ("grab my boots, the ones by the bed", ["fetch Boots"]),
        ("you left the fridge open", ["close Fridge"]),
        ("bring me a book and a pillow to put it on", ["place Book to User", "place Pillow to User"]),
        ("in the drawer there is a fork, wash it", ["clean Fork"]),
        ("give the cup on the shelf a good wipe", ["clean Cup"]),
        ("close the drawers", ["close all Drawer"]),
        ("take the mug off the sofa before it gets wet", ["fetch Mug"]),
        ("move the book into the sun by the bed", ["place Book to Bed"]),
        ("carry the mug to the floor lamp", ["place Mug to FloorLamp"]),
        ("it would be nice if the fridge were closed when my guests come", ["close Fridge"]),
    ],
)
def test_what_needs_no_guess_is_read(text: str, goals: list[str]) -> None:
    found = UNDERSTANDER.understand(text, KNOWN)
    assert [str(goal) for goal in found.goals] == goals, found.question
