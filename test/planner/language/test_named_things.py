"""A named thing is that thing: the same goals whether memory holds it, holds other things, or holds nothing."""

from pathlib import Path

import pytest
from spoken_home import EMPTY, HOMES, KNOWN, OTHER_THINGS

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.trained_readers import TrainedReaders
from memory_node.planner.language.understanding import Understander

# Sentence -> the goals that it asks for.
COMMANDS = {
    "put the egg in the fridge": ["place Egg to Fridge"],
    "bring me my phone": ["place CellPhone to User"],
    "close the microwave": ["close Microwave"],
    "take the knife out of the drawer": ["fetch Knife"],
    "take the knife off the coffee table": ["fetch Knife"],
    "get the apple from the fridge and put it in the bowl": ["place Apple to Bowl"],
    "move the apple from the bowl to the plate": ["place Apple to Plate"],
    "bring me all the pillows": ["place all Pillow to User"],
    "put all the pillows on the bed": ["place all Pillow to Bed"],
    "put three forks in the drawer": ["place 3 x Fork to Drawer"],
    "go to the kitchen": ["go kitchen"],
    "go to the fridge": ["find Fridge"],
    "come here": ["go User"],
    "stop": ["stop"],
    "wait a moment": ["wait"],
    "put the mug back": ["place Mug to where it was"],
    "wash the mug and replace it": ["clean Mug", "place Mug to where it was"],
    "wash the mug and replace it in the cabinet": ["clean Mug", "place Mug to Cabinet"],
    "is the stove off?": ["tell StoveBurner off"],
    "where are my keys?": ["tell KeyChain place"],
    "what is in the fridge?": ["tell Fridge contents"],
    "put the mug, no, the cup in the sink": ["place Cup to SinkBasin"],
    "put the mug in the sink, no, on the shelf": ["place Mug to Shelf"],
    "take the mug, wait, the cup, to the sink": ["place Cup to SinkBasin"],
    "do not touch the mug, bring me the cup": ["place Cup to User"],
    "if the laptop is open, close it": ["close Laptop"],
    "switch on the lamp on the desk": ["switch_on DeskLamp"],
    "drop what you have in your hand": ["drop"],
    "pick up the vase before one of us trips over it and breaks a leg": ["fetch Vase"],
    "get me a mug of water": ["fill Mug", "place Mug to User"],
    "microwave the mug of water": ["heat Mug"],
    "wash the spoon and the fork, then put them both in the drawer": [
        "clean Spoon",
        "clean Fork",
        "place Spoon to Drawer",
        "place Fork to Drawer",
    ],
}


@pytest.fixture(scope="module")
def grammar() -> Understander:
    return Understander(load_catalogue(), None, None)


@pytest.fixture(scope="module")
def trained() -> Understander:
    kinds = load_catalogue()
    return Understander(kinds, TrainedReaders(kinds), None)


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
@pytest.mark.parametrize("text", COMMANDS)
def test_grammar_alone_reads_what_is_named(grammar: Understander, text: str, home: HomeClasses) -> None:
    read = grammar.understand(text, home)
    assert [str(goal) for goal in read.goals] == COMMANDS[text]
    assert (read.source, read.confidence) == ("commands", 1.0)


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
@pytest.mark.parametrize("text", COMMANDS)
def test_trained_readers_swap_nothing(trained: Understander, text: str, home: HomeClasses) -> None:
    assert [str(goal) for goal in trained.understand(text, home).goals] == COMMANDS[text]


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
@pytest.mark.parametrize("text", ["bring me a cup or a mug", "bring a cup or a mug to the shelf"])
def test_either_thing_will_do_where_the_words_say_so(grammar: Understander, text: str, home: HomeClasses) -> None:
    (goal,) = grammar.understand(text, home).goals
    assert set(goal.target.candidates) == {"Cup", "Mug"}


def test_of_two_things_that_will_do_the_known_one_is_taken(grammar: Understander) -> None:
    (goal,) = grammar.understand("bring a cup or a mug to the shelf", HomeClasses(frozenset({"Mug"}))).goals
    assert str(goal) == "place Mug to Shelf"


@pytest.mark.parametrize("home", [KNOWN, EMPTY], ids=["known", "nothing known"])
def test_description_is_read_by_what_it_is_for(trained: Understander, home: HomeClasses) -> None:
    (goal,) = trained.understand("bring me something to drink from", home).goals
    assert goal.target.object_class in ("Cup", "Mug", "Glass", "WineGlass")


def test_description_that_nothing_in_memory_fits_is_not_met_with_the_next_best(trained: Understander) -> None:
    read = trained.understand("bring me something to drink from", OTHER_THINGS)
    assert not {goal.target.object_class for goal in read.goals} & OTHER_THINGS.all


@pytest.mark.parametrize(
    "text",
    [
        "take the knife out of the drawer",
        "could you maybe get that knife out of the drawer for me, love",
        "the knife has to come out of the drawer",
        "get the knife off of the drawer",
    ],
)
@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_what_is_taken_out_is_never_put_back_in(trained: Understander, text: str, home: HomeClasses) -> None:
    assert "Knife at Drawer" not in effects(trained.understand(text, home).goals)


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_liquid_is_no_reason_to_empty_the_fridge(grammar: Understander, home: HomeClasses) -> None:
    goals = grammar.understand("get the milk from the fridge", home).goals
    assert "empty Fridge" not in map(str, goals)


def test_class_of_a_new_label_space_is_read_without_training(tmp_path: Path) -> None:
    space = tmp_path / "mine.yaml"
    space.write_text("name: mine\nbase: household\nclasses:\n  Stapler: {names: [stapler], is: [pickupable]}\n")
    kinds = load_catalogue(str(space))
    for home in HOMES.values():
        read = Understander(kinds, TrainedReaders(kinds), None).understand("put the stapler in the drawer", home)
        assert [str(goal) for goal in read.goals] == ["place Stapler to Drawer"]


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("put the teddy bear on the couch", ["place teddy bear to couch"]),
        ("bring me the laptop", ["place laptop to person"]),
        ("put the wine glass in the sink", ["place wine glass to sink"]),
        ("close the refrigerator", ["close refrigerator"]),
        ("where is the cat?", ["tell cat place"]),
        ("put all the books on the bed", ["place all book to bed"]),
    ],
)
@pytest.mark.parametrize("readers", [False, True], ids=["grammar alone", "trained readers"])
def test_coco_is_read_without_training(text: str, goals: list[str], readers: bool) -> None:
    kinds = load_catalogue("coco")
    understander = Understander(kinds, TrainedReaders(kinds) if readers else None, None)
    for home in (EMPTY, HomeClasses(frozenset({"apple", "cup"}), frozenset({"chair", "oven"}))):
        assert [str(goal) for goal in understander.understand(text, home).goals] == goals
