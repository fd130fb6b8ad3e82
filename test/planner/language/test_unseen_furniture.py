"""Big furniture that a home lacks whose every place was looked at is asked about instead of searched for."""

from dataclasses import replace

import pytest
from grammar import KINDS

from memory_node.domain.scene import Area, SceneSnapshot
from memory_node.planner.language.conversation import Conversation
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander
from memory_node.planner.memory_lookup import is_surveyed

HOME = HomeClasses(frozenset({"Book", "Mug"}), frozenset({"DiningTable", "SinkBasin"}), surveyed=True)
UNDERSTANDER = Understander(KINDS, None, None)
HOUR_NS = 3600 * 10**9


def asked(text: str, home: HomeClasses = HOME) -> str:
    question = UNDERSTANDER.understand(text, home).question
    return question.text if question is not None else ""


def test_missing_desk_is_asked_about_with_the_table_as_choice() -> None:
    question = UNDERSTANDER.understand("put the book on the desk", HOME).question
    assert question is not None
    assert question.text.startswith("I have looked everywhere and have seen no desk.")
    assert question.choices == ("dining table",)


def test_answer_names_the_furniture_that_is_taken() -> None:
    conversation = Conversation()
    UNDERSTANDER.understand("wash the mug, then put the book on the desk", HOME, conversation=conversation)
    goals = UNDERSTANDER.understand("the dining table", HOME, conversation=conversation).goals
    assert [str(goal) for goal in goals] == ["clean Mug", "place Book to DiningTable"]


@pytest.mark.parametrize(
    "text",
    [
        "put the book on the dining table",
        "put the cup in the sink",  # a cup may be anywhere
        "turn off the tap",  # small things are overlooked
        "bring me the mug",  # a person is no furniture
        "find the desk",
        "go to the desk",
    ],
)
def test_nothing_is_asked_where_a_search_makes_sense(text: str) -> None:
    assert asked(text) == ""


def test_nothing_is_asked_where_no_furniture_is_known() -> None:
    assert asked("put the book on the desk", replace(HOME, fixtures=frozenset())) == ""


def test_nothing_is_asked_in_a_home_that_was_not_looked_at_everywhere() -> None:
    assert asked("put the book on the desk", replace(HOME, surveyed=False)) == ""


@pytest.mark.parametrize(("viewed_h", "surveyed"), [((1, 2), True), ((1, 30), False), ((1, None), False), ((), False)])
def test_home_is_surveyed_when_every_area_was_in_view_within_a_day(viewed_h: tuple, surveyed: bool) -> None:
    now_ns = 100 * HOUR_NS
    stamps = [0 if hours is None else now_ns - hours * HOUR_NS for hours in viewed_h]
    areas = tuple(Area(f"a{n}", "hall", (n, 0.0), last_viewed_ns=stamp) for n, stamp in enumerate(stamps))
    assert is_surveyed(SceneSnapshot(now_ns, areas=areas)) is surveyed
