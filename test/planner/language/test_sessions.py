"""Several instructions in a session: later ones refer to, answer, correct and add to those before."""

import pytest
from spoken_home import EMPTY, KNOWN, OTHER_THINGS

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.conversation import Conversation
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander

READER = Understander(load_catalogue(), None, None)
ASKS = "?"


def session(*said: str, home: HomeClasses = KNOWN) -> list[str]:
    """Return what each instruction comes to: its goals, or "?" for a question."""
    conversation = Conversation()
    reads = [READER.understand(text, home, conversation=conversation) for text in said]
    return [ASKS if read.question is not None else ", ".join(map(str, read.goals)) for read in reads]


@pytest.mark.parametrize("home", [KNOWN, OTHER_THINGS, EMPTY], ids=["known", "other things known", "nothing known"])
@pytest.mark.parametrize(
    ("said", "last"),
    [
        (("wash the mug", "put it on the shelf"), "place Mug to Shelf"),
        (("bring me the mug", "put it back"), "place Mug to where it was"),
        (("slice the apple", "put it in the bowl"), "place sliced Apple to Bowl"),
        (("put the apple on the plate", "put it in the fridge"), "place Plate to Fridge"),
        (("open the fridge", "close it"), "close Fridge"),
        (("where is the mug?", "bring it to me"), "place Mug to User"),
        (("wash the fork and the knife", "put them in the drawer"), "place Fork to Drawer, place Knife to Drawer"),
        (("bring me three forks", "put them in the drawer"), "place 3 x Fork to Drawer"),
        (("put all the pillows on the sofa", "put them on the bed"), "place all Pillow to Bed"),
        (("put the mug on the shelf", "put the cup there, too"), "place Cup to Shelf"),
        (("bring me the mug", "stop", "put it back"), "place Mug to where it was"),
        (("there are two mugs on the desk", "wash them"), "clean 2 x Mug"),
        (("put the mug on the blorp", "wash it"), "clean Mug"),
        (
            ("heat two potatoes", "put one on the plate and the other in the bowl"),
            "place Potato to Plate, place Potato to Bowl",
        ),
    ],
)
def test_later_words_refer_to_things_spoken_of(said: tuple[str, ...], last: str, home: HomeClasses) -> None:
    assert session(*said, home=home)[-1] == last


@pytest.mark.parametrize(
    ("said", "last"),
    [
        (("put the mug in the sink", "no, the cup"), "place Cup to SinkBasin"),
        (("put the mug in the sink", "no, on the shelf"), "place Mug to Shelf"),
        (("put the mug in the sink", "no, the shelf"), "place Mug to Shelf"),
        (("put the mug in the sink", "and the cup, too"), "place Cup to SinkBasin"),
        (("put the mug in the sink", "the cup as well"), "place Cup to SinkBasin"),
        (("bring me the mug", "do the same with the cup"), "place Cup to User"),
        (("throw the newspaper away", "and the tissue box"), "place TissueBox to GarbageCan"),
        (("turn on the lamp", "the one on the desk"), "switch_on DeskLamp"),
        (("put the mug in the sink", "not in the sink, on the shelf"), "place Mug to Shelf"),
        (("put the mug on the shelf", "a cup and a fork, too"), "place Cup to Shelf, place Fork to Shelf"),
        (("close the left window", "and the right one"), "close Window"),
        (("open the microwave", "I said the fridge"), "open Fridge"),
        (("put the blorp in the drawer", "never mind"), "stop"),
    ],
)
def test_last_command_is_corrected_or_added_to(said: tuple[str, ...], last: str) -> None:
    assert session(*said)[-1] == last


@pytest.mark.parametrize(
    "then", ["bring me the other mug", "bring me the other one", "not the red one", "not that one, another one"]
)
def test_other_one_is_another_of_the_class(then: str) -> None:
    conversation = Conversation()
    READER.understand("bring me the red mug", KNOWN, conversation=conversation)
    (goal,) = READER.understand(then, KNOWN, conversation=conversation).goals
    assert str(goal) == "place Mug to User"
    assert goal.target.another


@pytest.mark.parametrize(
    ("said", "reads"),
    [
        (("put the book on the table", "the coffee table"), [ASKS, "place Book to CoffeeTable"]),
        (("put the book on the table", "on the coffee table"), [ASKS, "place Book to CoffeeTable"]),
        (("put the mug", "in the sink"), [ASKS, "place Mug to SinkBasin"]),
        (("put the mug", "next to the bowl"), [ASKS, "place Mug to Bowl"]),
        (("put", "the mug", "in the sink"), [ASKS, ASKS, "place Mug to SinkBasin"]),
        (("bring me", "the apple"), [ASKS, "place Apple to User"]),
        (("slice it", "the apple"), [ASKS, "slice Apple"]),
        (("go", "to the kitchen"), [ASKS, "go kitchen"]),
        (("put the hammer in the drawer", "the knife"), [ASKS, "place Knife to Drawer"]),
        (("wash the fork, put the book on the table", "the side table"), [ASKS, "clean Fork, place Book to SideTable"]),
        (("put the book on the table", "yes"), [ASKS, ASKS]),
    ],
)
def test_question_is_answered_by_the_next_instruction(said: tuple[str, ...], reads: list[str]) -> None:
    assert session(*said) == reads


@pytest.mark.parametrize("name", ["coffee table", "dining table", "side table"])
def test_every_choice_that_is_offered_is_an_answer(name: str) -> None:
    conversation = Conversation()
    read = READER.understand("put the book on the table", KNOWN, conversation=conversation)
    assert read.question is not None
    assert name in read.question.choices
    (goal,) = READER.understand(name, KNOWN, conversation=conversation).goals
    assert str(goal.destination).lower() == name.replace(" ", "")


def test_new_command_leaves_the_question_behind() -> None:
    said = ("put the book on the table", "wash the mug", "the coffee table")
    assert session(*said)[:2] == [ASKS, "clean Mug"]
    assert "Book" not in session(*said)[2]


def test_question_changes_nothing_that_was_spoken_of() -> None:
    assert session("wash the mug", "put the hammer in the drawer", "put it on the shelf")[-1] == "place Mug to Shelf"


def test_sessions_know_nothing_of_each_other() -> None:
    assert session("wash the apple", "slice it") == ["clean Apple", "slice Apple"]
    assert session("slice it") == [ASKS]


def test_what_another_reader_took_is_what_later_words_refer_to() -> None:
    conversation = Conversation()
    READER.understand("slice the apple", KNOWN, conversation=conversation)
    washed = Goal(GoalKind.CLEAN, Mention("the mug", ("Mug",)), text="wash the mug")
    READER.overheard("wash the mug", [washed], KNOWN, conversation)
    placed = READER.understand("put it on the shelf", KNOWN, conversation=conversation)
    assert [str(goal) for goal in placed.goals] == ["place Mug to Shelf"]
    READER.overheard("wash the mug", [washed], KNOWN, conversation)
    more = READER.understand("and the cup, too", KNOWN, conversation=conversation)
    assert [str(goal) for goal in more.goals] == ["clean Cup"]
    READER.overheard("where is the book?", [], KNOWN, conversation)
    brought = READER.understand("bring it to me", KNOWN, conversation=conversation)
    assert [str(goal) for goal in brought.goals] == ["place Book to User"]
