"""Goals are held against the words: each objection with an example, and none where goals fit."""

from dataclasses import replace

import pytest
from grammar import KINDS, READER, read
from spoken_home import KNOWN

from memory_node.domain.goal_labels import GoalKind as K
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.audit import Evidence, objection
from memory_node.planner.language.licence import licence_of
from memory_node.planner.language.roles import roles_of
from memory_node.planner.language.treatments import TreatmentWords

TREATMENTS = TreatmentWords(KINDS)


def objected(text: str, *goals: Goal, guessed: bool = False, asks: bool = False) -> str:
    instruction = read(text)
    licence = licence_of(instruction.words, READER.lexicon, READER.commands, KNOWN, KINDS)
    roles = roles_of(instruction.kept, READER.commands)
    english = READER.commands.english if asks else None
    evidence = Evidence(instruction, licence, roles, KINDS, text, TREATMENTS, guessed=guessed, english=english)
    return objection(goals, evidence)


def mention(name: str, **more: bool) -> Mention:
    return Mention(name, (name,), **more)


def goal(kind: K, target: str, to: str = "") -> Goal:
    return Goal(kind, mention(target), mention(to) if to else None)


@pytest.mark.parametrize(
    ("text", "goals", "because"),
    [
        ("put the egg in the fridge", (goal(K.PLACE, "AlarmClock", "Fridge"),), "no word stands for AlarmClock"),
        ("put the egg in the fridge", (goal(K.PLACE, "Egg", "SinkBasin"),), "no word stands for SinkBasin"),
        ("close the microwave", (goal(K.CLOSE, "FloorLamp"),), "no word stands for FloorLamp"),
        ("get the fridge door for me", (goal(K.PLACE, "Fridge", "User"),), "Fridge cannot be carried"),
        ("get me something", (goal(K.FETCH, "Box"),), "nothing tells what 'something' is"),
        ("wash the mug and the fork", (goal(K.CLEAN, "Mug"),), "'the fork' is left out"),
        ("put the mug in the sink", (goal(K.FETCH, "Mug"),), "'the sink' is left out"),
        (
            "take the knife out of the drawer",
            (goal(K.PLACE, "Knife", "Drawer"),),
            "Drawer is where it is taken from",
        ),
        ("take the book off the shelf", (goal(K.PLACE, "Book", "Shelf"),), "Shelf is where it is taken from"),
        ("put the bowl in the bowl", (goal(K.PLACE, "Bowl", "Bowl"),), "Bowl cannot be put into itself"),
        (
            "put two spoons beside the microwave",
            (goal(K.PLACE_TWO, "Spoon", "Microwave"),),
            "it belongs beside Microwave, not there",
        ),
        (
            "set it in front of the fridge",
            (Goal(K.PLACE, mention("Mug", referring=True), mention("Fridge")),),
            "it belongs beside Fridge, not there",
        ),
        (
            "put the potato in the pan and slice it",
            (Goal(K.STACK, mention("Potato"), mention("Pan"), mention("Pan"), sliced=True),),
            "Pan cannot be put into itself",
        ),
        ("does the mug need a wash?", (goal(K.CLEAN, "Mug"),), "it is a question"),
        ("pick up the vase before it falls", (goal(K.BREAK, "Vase"),), "no command asks to break Vase"),
        ("look at the floor lamp", (goal(K.EXAMINE, "FloorLamp"),), "FloorLamp cannot be carried"),
        ("get me the knife from the bowl into the sink", (goal(K.FETCH, "Knife"),), "'the sink' is left out"),
    ],
)
def test_goals_that_do_not_fit_are_objected_to_with_the_reason(
    text: str, goals: tuple[Goal, ...], because: str
) -> None:
    assert objected(text, *goals) == because


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("put the egg in the fridge", (goal(K.PLACE, "Egg", "Fridge"),)),
        ("take the knife out of the drawer", (goal(K.FETCH, "Knife"),)),
        ("wash the mug in the sink", (goal(K.CLEAN, "Mug"),)),
        ("bring me something to drink from", (goal(K.PLACE, "Cup", "User"),)),
        ("put the mug back", (Goal(K.PLACE, mention("Mug"), Mention("where it was", original_place=True)),)),
        ("put it in the sink", (Goal(K.PLACE, mention("Pen", referring=True), mention("SinkBasin")),)),
        ("bring a cup or a mug to the sofa", (goal(K.PLACE, "Cup", "Sofa"),)),
        ("is the mug clean?", (goal(K.TELL, "Mug"),)),
        ("go to the fridge and wash the mug", (goal(K.CLEAN, "Mug"),)),
        ("take the mug from the sink, wash it and put it in the sink", (goal(K.CLEAN, "Mug", "SinkBasin"),)),
        (
            "put the mug next to the bowl from the shelf",
            (Goal(K.PLACE, mention("Mug"), mention("Bowl", beside=True)),),
        ),
        ("take the cup beside the sink and put it in the sink", (goal(K.PLACE, "Cup", "SinkBasin"),)),
    ],
)
def test_goals_that_fit_are_not_objected_to(text: str, goals: tuple[Goal, ...]) -> None:
    assert objected(text, *goals) == ""


def test_only_one_of_two_things_that_were_named_together_is_a_thing_left_out() -> None:
    text = "put the spoon and the fork in the drawer"
    assert objected(text, goal(K.PLACE, "Fork", "Drawer")) == "'the spoon' is left out"


def test_thing_that_may_be_either_of_two_named_ones_is_its_likeliest_and_leaves_the_other_out() -> None:
    either = replace(mention("Apple"), candidates=("Apple", "Egg"))
    text = "slice an apple and cook an egg"
    assert objected(text, Goal(K.HEAT, either, sliced=True)) == "'an egg' is left out"
    assert objected("cook an egg", Goal(K.HEAT, replace(either, candidates=("Egg", "Apple")))) == ""


@pytest.mark.parametrize(
    ("text", "guess", "because"),
    [
        (
            "put the pen and the alarm clock away",
            goal(K.PLACE, "Pen", "AlarmClock"),
            "nothing can be put into AlarmClock",
        ),
        (
            "put the mug in the sink on the shelf",
            Goal(K.STACK, mention("Mug"), mention("Shelf"), mention("SinkBasin")),
            "nothing is carried in SinkBasin",
        ),
        (
            "put the plate with a slice on the shelf",
            Goal(K.PLACE, mention("Plate"), mention("Shelf"), sliced=True),
            "Plate cannot be cut",
        ),
    ],
)
def test_a_guess_is_objected_to_that_no_thing_can_take_part_in(text: str, guess: Goal, because: str) -> None:
    assert objected(text, guess, guessed=True) == because


@pytest.mark.parametrize(
    ("text", "goals", "because"),
    [
        ("bring me the cup on the desk", (goal(K.PLACE, "Cup", "Desk"),), "it is to be brought, not put to Desk"),
        (
            "put all the books on the shelf",
            (Goal(K.PLACE_TWO, mention("Book"), mention("Shelf"), count=2),),
            "all of them",
        ),
        ("bring me three forks", (goal(K.PLACE, "Fork", "User"),), "'three' is left out"),
        ("put an apple in every bowl", (goal(K.PLACE, "Apple", "Bowl"),), "more than one place"),
    ],
)
def test_guess_that_drops_a_number_or_a_person_is_objected_to_where_somebody_can_be_asked(
    text: str, goals: tuple[Goal, ...], because: str
) -> None:
    assert because in objected(text, *goals, guessed=True, asks=True)
    assert because not in objected(text, *goals, guessed=True)


@pytest.mark.parametrize(
    ("text", "guess", "because"),
    [
        ("the pen belongs on the table", goal(K.PLACE, "Pen", "CoffeeTable"), "one of several"),
        ("put the fork on", goal(K.SWITCH_ON, "Fork"), "Fork has no switch"),
        (
            "view the newspaper",
            Goal(K.EXAMINE, mention("Newspaper"), light=mention("DeskLamp")),
            "no word asks for the DeskLamp",
        ),
    ],
)
def test_guess_that_decides_what_nobody_said_is_objected_to(text: str, guess: Goal, because: str) -> None:
    assert because in objected(text, guess, guessed=True, asks=True)


def test_lamp_that_is_named_is_no_guess() -> None:
    assert objected("turn the floor lamp off", goal(K.SWITCH_OFF, "FloorLamp"), guessed=True, asks=True) == ""


def test_verb_that_asks_for_something_else_is_objected_to_where_somebody_can_be_asked() -> None:
    text, read_out = "read me the newspaper", goal(K.EXAMINE, "Newspaper")
    assert objected(text, read_out, asks=True) == "nobody knows what 'read' asks for here"
    assert objected(text, read_out) == ""
