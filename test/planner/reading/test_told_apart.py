"""Which things are meant by what tells them apart: all but some, the rest, what is ruled out, and by another name."""

from dataclasses import replace

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.conversation import Conversation, Question
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.understanding import Understander

READER = Understander(load_catalogue(), None, None)
SUPPORTS = (
    ("Book", "Desk"),
    ("Pen", "Desk"),
    ("Mug", "Desk"),
    ("Mug", "CounterTop"),
    ("Mug", "Shelf"),
    ("Cup", "Sofa"),
)
HOME = HomeClasses(
    frozenset({"Book", "Pen", "Mug", "Cup", "Vase", "Newspaper"}),
    frozenset({"Desk", "CounterTop", "Shelf", "Sofa", "Bed", "Drawer", "Fridge", "DiningTable", "CoffeeTable"}),
    frozenset({"kitchen", "bedroom"}),
    people={"karl": Mention("Karl", ("User",), thing_id="karl")},
    supports=SUPPORTS,
)


def goals(text: str, conversation: Conversation | None = None) -> list[str]:
    """Return what is to be done, with where its thing is and is not, and how it is not."""
    found = READER.understand(text, HOME, conversation=conversation)
    assert found.question is None, found.question
    return [_told(goal) for goal in found.goals]


def question(text: str) -> Question:
    found = READER.understand(text, HOME).question
    assert found is not None
    return found


def _told(goal: Goal) -> str:
    thing = goal.target
    told = {"on": thing.on, "off": thing.off, "unlike": thing.unlike, "in": (thing.room,) if thing.room else ()}
    return " ".join([str(goal), *(f"{word} {' '.join(many)}" for word, many in told.items() if many)])


@pytest.mark.parametrize(
    "text",
    [
        "put everything on the desk except the pen on the bed",
        "put everything but the pen on the desk on the bed",
        "put all the things on the desk, apart from the pen, on the bed",
    ],
)
def test_everything_leaves_out_what_is_excepted(text: str) -> None:
    assert goals(text) == ["place all Book to Bed on Desk", "place all Mug to Bed on Desk"]


def test_everything_else_leaves_out_what_the_instruction_named_before() -> None:
    before = Conversation()
    goals("put the mug on the sofa", before)
    assert goals("put the book on the bed and everything else on the desk on the sofa", before) == [
        "place Book to Bed",
        "place all Mug to Sofa on Desk",
        "place all Pen to Sofa on Desk",
    ]


@pytest.mark.parametrize(
    "text",
    ["take everything off the desk", "put everything on the table on the bed", "put everything on the bed"],
)
def test_everything_is_asked_about_where_place_or_goal_is_open(text: str) -> None:
    assert question(text).text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("put all but one of the mugs on the bed", "place_two 2 x Mug to Bed"),
        ("put all the mugs but two on the bed", "place Mug to Bed"),
        ("put all the mugs except the one on the desk in the fridge", "place all Mug to Fridge off Desk"),
        ("put all the mugs but the dirty ones in the fridge", "place all Mug to Fridge unlike dirty"),
        ("bring me the mug that's not on the desk", "place Mug to User off Desk"),
        ("bring me the mug, the one that isn't on the desk", "place Mug to User off Desk"),
        ("bring me the mug that is not dirty", "place Mug to User unlike dirty"),
        ("bring me the mug, the one on the desk", "place Mug to User on Desk"),
        ("open the kitchen drawer", "open Drawer in kitchen"),
        ("put the vase, a gift from Ana, on the desk", "place Vase to Desk"),
        ("bring my brother, Karl, the vase", "place Vase to User"),
        ("take the vase to my brother, Karl", "place Vase to User"),
        ("bring me something to read", "place Book to User"),
        ("have a look in the fridge", "find Fridge contents"),
    ],
)
def test_one_is_told_from_others(text: str, wanted: str) -> None:
    assert goals(text) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        "put all but three of the mugs on the bed",
        "close all drawers but the one in the bedroom",
        "put all the mugs except the green one on the bed",
        "close the drawer. Actually, leave it open.",
    ],
)
def test_what_cannot_be_told_apart_is_asked_about(text: str) -> None:
    assert question(text).text


def test_the_rest_are_those_that_were_left() -> None:
    before = Conversation()
    goals("put all but one of the mugs on the bed", before)
    found = READER.understand("put the rest on the sofa", HOME, conversation=before).goals
    assert [(str(one), one.target.another) for one in found] == [("place all Mug to Sofa", True)]


def test_row_of_things_is_no_apposition() -> None:
    assert goals("bring me the vase, the mug and the cup") == [
        "place Vase to User",
        "place Mug to User",
        "place Cup to User",
    ]


def test_person_whom_nobody_knows_is_asked_about_and_a_place_will_do() -> None:
    before = Conversation()
    found = READER.understand("Bring Kim the book.", HOME, conversation=before).question
    assert found is not None
    assert "Kim" in found.text
    assert goals("to the sofa", before) == ["place Book to Sofa"]


@pytest.mark.parametrize(
    "time", ["at 7", "at 17:30", "at half past five", "at quarter to six pm", "at 7 o'clock", "unless Karl is asleep"]
)
def test_clock_times_and_what_nobody_can_see_put_off(time: str) -> None:
    assert question(f"bring me the cup {time}").confirms


def test_them_are_the_things_of_the_last_command_where_they_were_several() -> None:
    before = Conversation()
    goals("bring me the newspaper", before)
    goals("wash the dishes on the sofa", before)
    assert goals("put them in the fridge", before) == ["place all Cup to Fridge"]


@pytest.mark.parametrize("text", ["move the mug and the cup to the desk", "wash the dishes"])
def test_another_place_for_several_things_is_asked_about(text: str) -> None:
    before = Conversation()
    goals(text, before)
    assert READER.understand("move them to the other shelf", HOME, conversation=before).question is not None


def test_them_is_asked_about_where_several_things_stand_before_the_last() -> None:
    before = Conversation()
    goals("take the cup and the mug to the shelf", before)
    goals("bring me the newspaper", before)
    assert READER.understand("wash them", HOME, conversation=before).question is not None


def test_state_tells_several_things_apart_and_is_brought_about_for_one() -> None:
    assert goals("put the clean cups on the desk") == ["place all Cup to Desk"]
    assert goals("put a clean cup on the desk") == ["clean Cup to Desk"]


@pytest.mark.parametrize("text", ["turn on the tv for ten minutes", "put half of the bread in the fridge"])
def test_durations_and_shares_are_asked_about(text: str) -> None:
    assert question(text).text


def remembering(text: str) -> Mention | None:
    """Remember one mug that was handled, and no pen."""
    return Mention(text, ("Mug",), thing_id="that-mug") if "mug" in text else None


@pytest.mark.parametrize(
    "text",
    [
        "I need the mug again, bring it here",
        "the mug again, please, put it on the bed",
        "could you fetch me the mug which you took out of the fridge",
        "I'd like the mug you put on the desk this morning on the bed",
    ],
)
def test_thing_is_the_one_that_the_robot_handled(text: str) -> None:
    found = READER.understand(text, replace(HOME, remembered=remembering))
    assert found.question is None
    assert {goal.target.thing_id or goal.target.referring for goal in found.goals} <= {"that-mug", True}
    assert found.goals[0].target.thing_id == "that-mug"
    assert not found.goals[0].target.on


def test_words_of_a_deed_go_whole_to_memory_and_leave_the_place_of_the_command() -> None:
    asked: list[str] = []
    home = replace(HOME, remembered=lambda text: asked.append(text) or remembering(text))
    found = READER.understand("would you put the mug that you carried to the bed on the desk", home)
    assert asked == ["the mug that you carried to the bed"]
    assert [str(goal) for goal in found.goals] == ["place Mug to Desk"]


def test_deed_that_memory_does_not_know_is_asked_about_where_there_are_several() -> None:
    asked = READER.understand("put the mug that you gave karl on the desk", HOME).question
    assert asked is not None
    assert "the mug that you gave" in asked.text
    assert goals("put the book that you washed on the desk") == ["place Book to Desk"]
    assert goals("wash a mug and put the mug that you washed on the desk") == ["clean Mug", "place Mug to Desk"]


def test_answer_keeps_where_the_thing_is() -> None:
    home, conversation = replace(HOME, fixtures=frozenset({"FloorLamp", "DeskLamp", "Desk"})), Conversation()
    assert READER.understand("turn off the lamp", home, conversation=conversation).question is not None
    answered = READER.understand("the one on the desk", home, conversation=conversation)
    assert [str(goal) for goal in answered.goals] == ["switch_off DeskLamp"]


@pytest.mark.parametrize("name", ["bottles", "lamps"])
def test_state_that_is_said_of_several_kinds_is_said_of_each(name: str) -> None:
    home = HomeClasses(frozenset({"SprayBottle", "SoapBottle", "DeskLamp", "FloorLamp"}), frozenset({"GarbageCan"}))
    for said, states in (("empty ", (ObjectState.USED_UP,)), ("", ())):
        found = READER.understand(f"throw away all the {said}{name}", home)
        assert len(found.goals) == 2
        assert {goal.target.states for goal in found.goals} == {states}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("bring me the pen and the book from the desk", ["place Pen to User on Desk", "place Book to User on Desk"]),
        ("bring me the cup and the book from the desk", ["place Cup to User", "place Book to User on Desk"]),
    ],
)
def test_place_behind_a_list_is_of_each_that_memory_knows_there(text: str, read: list[str]) -> None:
    assert goals(text) == read


def test_adjective_that_memory_knows_of_no_thing_is_not_passed_over() -> None:
    assert "3" in question("bring me the red mug").text
    found = READER.understand("bring me the red book", HOME)
    assert [_told(goal) for goal in found.goals] == ["place Book to User"]
    assert "the red book" in " ".join(found.notes)
    assert not READER.understand("bring me a red mug", HOME).notes


def test_one_of_a_group_is_not_all_of_it() -> None:
    assert question("put one of the soft things on the desk on the bed")


def test_kind_is_known_by_the_last_word_of_its_name() -> None:
    home = replace(HOME, fixtures=HOME.fixtures | {"ToiletPaperHanger"})
    found = READER.understand("put the cup on the hanger", home)
    assert [_told(goal) for goal in found.goals] == ["place Cup to ToiletPaperHanger"]
