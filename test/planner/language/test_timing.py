"""What is put off to another time, or to a condition, is asked about and not done at once."""

import pytest
from spoken_home import HOMES, KNOWN

from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.conversation import Conversation
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander

UNDERSTANDER = Understander(load_catalogue(), None, None)
ELSEWHERE = [
    "in an hour",
    "in half an hour",
    "in about twenty minutes",
    "ten minutes from now",
    "at five",
    "at half past nine",
    "at 7:30 pm",
    "tomorrow",
    "tomorrow morning",
    "later",
    "tonight",
    "this evening",
    "on Monday",
    "next week",
    "every morning",
    "every two hours",
    "twice a day",
    "after lunch",
    "after the film",
    "when I am back",
    "if it rains",
    "as soon as the sun is up",
    "once the guests are gone",
    "unless Anna calls",
]


def put_off(text: str, home: HomeClasses = KNOWN) -> bool:
    found = UNDERSTANDER.understand(text, home, conversation=Conversation())
    return found.question is not None and "Shall I do it now?" in found.question.text and not found.goals


@pytest.mark.parametrize("when", ELSEWHERE)
@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_what_is_put_off_is_asked_about(when: str, home: HomeClasses) -> None:
    assert put_off(f"Wash the mug {when}.", home)
    assert put_off(f"{when[0].upper()}{when[1:]}, wash the mug.", home)


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("Wash the mug for tonight.", ["clean Mug"]),
        ("Boil the egg for five minutes.", ["heat Egg"]),
        ("Close the fridge in a second.", ["close Fridge"]),
        ("Wash the mug as soon as you can.", ["clean Mug"]),
        ("We eat in an hour. Wash the forks.", ["clean all Fork"]),
        ("We have guests tomorrow, so wash the mug.", ["clean Mug"]),
        ("Once the apple is washed, put it in the bowl.", ["clean Apple", "place Apple to Bowl"]),
        ("Wash the mug when you are done.", ["clean Mug"]),
        ("Put two forks at the plate.", ["place_two 2 x Fork to Plate"]),
    ],
)
def test_what_is_to_be_done_now_is_done(text: str, goals: list[str]) -> None:
    assert [str(goal) for goal in UNDERSTANDER.understand(text, KNOWN).goals] == goals


def test_yes_does_now_what_was_put_off() -> None:
    conversation = Conversation()
    assert UNDERSTANDER.understand("Wash the mug in an hour.", KNOWN, conversation=conversation).question is not None
    for answer in ("yes", "yes, now"):
        again = Conversation(pending=conversation.pending)
        assert [str(one) for one in UNDERSTANDER.understand(answer, KNOWN, conversation=again).goals] == ["clean Mug"]
    assert not UNDERSTANDER.understand("no", KNOWN, conversation=Conversation(pending=conversation.pending)).goals


def test_nobody_to_ask_means_now() -> None:
    silent = Understander(load_catalogue(), None, None, asks=False)
    assert [str(goal) for goal in silent.understand("Wash the mug in an hour.", KNOWN).goals] == ["clean Mug"]


def test_other_readers_goals_are_refused_for_another_time() -> None:
    goals = UNDERSTANDER.understand("wash the mug", KNOWN).goals
    assert UNDERSTANDER.objection("wash the mug at five", goals, KNOWN) == "'at five' is not now"
    assert UNDERSTANDER.objection("wash the mug", goals, KNOWN) == ""
