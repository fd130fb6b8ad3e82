"""What is unsure is asked about, with choices, and nothing is done; what is plain is never asked about."""

from dataclasses import replace

import pytest
from spoken_home import EMPTY, HOMES, KNOWN

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.asking_back import Slot
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander


@pytest.fixture(scope="module")
def grammar() -> Understander:
    return Understander(load_catalogue(), None, None)


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("", Slot.COMMAND),
        ("...", Slot.COMMAND),
        ("slice it", Slot.TARGET),
        ("put it back", Slot.TARGET),
        ("close that", Slot.TARGET),
        ("put", Slot.TARGET),
        ("bring me", Slot.TARGET),
        ("go", Slot.TARGET),
        ("put the mug", Slot.DESTINATION),
        ("put the mug there", Slot.DESTINATION),
        ("put the hammer in the drawer", Slot.TARGET),
        ("put the mug into the contraption", Slot.DESTINATION),
        ("the table", Slot.COMMAND),
        ("put the remote where I can reach it", Slot.DESTINATION),
        ("see the melon and the egg? put them both in the fridge", Slot.TARGET),
        ("I don't want you to open and wash the mug", Slot.COMMAND),
        ("yes", Slot.COMMAND),
        ("shut the door... or just leave it open", Slot.COMMAND),
        ("put the pot on", Slot.DESTINATION),
        ("pull a tissue out of the tissue box", Slot.TARGET),
    ],
)
def test_what_is_open_is_asked_about(grammar: Understander, text: str, slot: Slot, home: HomeClasses) -> None:
    read = grammar.understand(text, home)
    assert read.goals == ()
    assert read.confidence == 0.0
    assert read.question is not None
    assert read.question.slot is slot


@pytest.mark.parametrize("home", [KNOWN, EMPTY], ids=["three tables", "no table"])
def test_unknown_table_is_asked_about_with_choices(grammar: Understander, home: HomeClasses) -> None:
    read = grammar.understand("put the book on the table", home)
    assert read.goals == ()
    assert read.question is not None
    assert {"coffee table", "dining table", "side table"} <= set(read.question.choices)


def test_only_table_is_the_table(grammar: Understander) -> None:
    home = HomeClasses(frozenset(), frozenset({"SideTable", "Shelf"}))
    assert [str(goal) for goal in grammar.understand("put the book on the table", home).goals] == [
        "place Book to SideTable"
    ]


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_thing_in_the_hand_is_it(grammar: Understander, home: HomeClasses) -> None:
    holding = HomeClasses(home.objects, home.fixtures, home.rooms, held="Mug")
    for text in ("drop it", "put it down", "let go of it", "drop the mug", "drop that"):
        assert [str(goal) for goal in grammar.understand(text, holding).goals] == ["drop Mug"], text
    assert [str(goal) for goal in grammar.understand("put it on the shelf", holding).goals] == ["place Mug to Shelf"]


@pytest.mark.parametrize("text", ["wash the mug unless it is clean", "if the lamp is on, close the window"])
def test_condition_that_cannot_be_kept_is_asked_about(grammar: Understander, text: str) -> None:
    read = grammar.understand(text, KNOWN)
    assert read.goals == ()
    assert read.question is not None


def test_goals_that_the_audit_objects_to_are_asked_about_without_readers_too(grammar: Understander) -> None:
    read = grammar.understand("put the bowl in the bowl", KNOWN)
    assert read.goals == ()
    assert read.question is not None


def test_nobody_is_asked_where_nobody_answers(word_embedder) -> None:
    alone = Understander(load_catalogue(), None, word_embedder, asks=False)
    assert alone.understand("put the mug in the sink", EMPTY).goals
    assert alone.understand("slice it", EMPTY).goals == ()


def test_place_in_a_room_is_left_to_the_robot(grammar: Understander) -> None:
    (unseen,) = grammar.understand("put the mug in the garage", EMPTY).goals  # no room is known yet
    assert unseen.destination.room == "garage"
    known = HomeClasses(KNOWN.objects, KNOWN.fixtures, frozenset({"bedroom"}))
    (goal,) = grammar.understand("bring the mug to the bedroom", known).goals
    assert (str(goal), goal.destination.room, goal.destination.candidates) == ("place Mug to bedroom", "bedroom", ())
    asked = grammar.understand("bring the mug to the attic", known).question
    assert asked is not None
    assert asked.text == "I know no attic here. Where do you mean?"
    assert asked.choices == ("bedroom",)


def test_what_is_held_is_asked_about_where_the_hand_is_empty(grammar: Understander) -> None:
    asked = grammar.understand("put what you are holding on the bed", KNOWN).question
    assert asked is not None
    assert "hand is empty" in asked.text
    (goal,) = grammar.understand("put what you are holding on the bed", replace(KNOWN, held="Mug")).goals
    assert str(goal) == "place Mug to Bed"


def test_what_is_in_a_machine_is_asked_about_before_it_is_emptied(grammar: Understander) -> None:
    asked = grammar.understand("empty the washing machine", KNOWN).question
    assert asked is not None
    assert asked.text == "What shall I take out of the washing machine?"


def test_room_goes_with_all_things_that_are_to_be_treated_in_it(grammar: Understander) -> None:
    for text in ("close all the windows in the bedroom", "close all the bedroom windows"):
        (goal,) = grammar.understand(text, EMPTY).goals
        assert (str(goal), goal.target.room) == ("close all Window", "bedroom")
    (everywhere,) = grammar.understand("close all the windows", EMPTY).goals
    assert everywhere.target.room == ""
    for text in ("put all the books in the bedroom into the box", "take all the books out of the bedroom to the desk"):
        (goal,) = grammar.understand(text, EMPTY).goals
        assert goal.target.room == "bedroom"
    (there,) = grammar.understand("put all the books in the bedroom", EMPTY).goals
    assert there.target.room == ""
