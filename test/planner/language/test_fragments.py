"""What is no whole command is an answer, a correction or an addition."""

import pytest
from grammar import READER, words

from memory_node.planner.language.english import INTO, NEAR
from memory_node.planner.language.fragments import Fragment, read_fragment


def fragment(text: str) -> Fragment | None:
    return read_fragment(words(text), READER.commands)


@pytest.mark.parametrize(
    ("text", "thing", "place"),
    [
        ("the apple", "apple", None),
        ("the dining table, please", "dining table", None),
        ("in the sink", "", (INTO, "sink")),
        ("next to the lamp", "", (NEAR, "lamp")),
        ("and the lettuce, too", "lettuce", None),
        ("the apple, I mean", "apple", None),
        ("do the same with the cup", "cup", None),
    ],
)
def test_thing_or_place_is_read(text: str, thing: str, place: tuple[str, str] | None) -> None:
    found = fragment(text)
    assert found is not None
    assert (found.thing.head if found.thing else "") == thing
    assert (found.place and (found.place[0], found.place[1].head)) == place


@pytest.mark.parametrize(
    ("text", "corrects"),
    [("no, the cup", True), ("sorry, the cup", True), ("I meant the cup", True), ("the cup", False)],
)
def test_correction_is_told_from_an_answer(text: str, corrects: bool) -> None:
    found = fragment(text)
    assert found is not None
    assert (found.thing is not None, found.corrects) == (True, corrects)


def test_wrong_thing_is_skipped() -> None:
    found = fragment("not the mug, the cup")
    assert found is not None
    assert found.thing is not None
    assert found.thing.head == "cup"


@pytest.mark.parametrize(("text", "agrees"), [("yes", True), ("yes, please", True), ("no", False), ("nope", False)])
def test_yes_and_no_are_read(text: str, agrees: bool) -> None:
    assert fragment(text) == Fragment(agrees=agrees)


@pytest.mark.parametrize(
    "text", ["put the mug in the sink", "mug to the sink", "the weather is nice", "bring it to me", ""]
)
def test_whole_commands_and_talk_are_no_fragments(text: str) -> None:
    assert fragment(text) is None
