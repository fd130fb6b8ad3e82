"""What was asked for with one thing is read for another one that an instruction likens to it."""

from __future__ import annotations

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.recalled import Recalled
from memory_node.domain.step import Deed
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.likeness import Likened
from memory_node.planner.reading.understanding import Understander

KINDS = load_catalogue()


def liken(text: str, asked: str = "wash the fork and then put it in the drawer") -> Likened | None:
    deeds = (Deed("e1:0", "CleanObject", "f", "Fork", 1), Deed("e0:0", "PutObject", "s", "Spoon", 0))
    recalled = Recalled(tried=deeds[::-1], asked={"e1": asked, "e0": "put the spoon on the shelf"})
    return Understander(KINDS, None, None).likened(text, HomeClasses(), recalled)


@pytest.mark.parametrize(
    "text",
    [
        "do with the knife what you did with the fork",
        "treat the knife exactly like the fork",
        "give the knife the same treatment the fork got",
        "do the same with the knife as with the fork",
        "as you did with the fork, do with the knife",
        "handle the knife the way you handled the fork",
    ],
)
def test_pattern_is_told_from_thing(text: str) -> None:
    found = liken(text)
    assert found is not None
    assert (found.pattern, found.order) == ("the fork", "wash the knife and put it in the drawer")


def test_what_was_for_other_things_is_left_and_lamp_is_kept() -> None:
    found = liken("treat the knife like the fork", "bring me the fork and the cup and turn on the lamp")
    assert found is not None
    assert found.order == "bring me the knife and turn on the lamp"


def test_unknown_past_of_pattern_leaves_no_order() -> None:
    found = liken("treat the knife like the plate")
    assert found is not None
    assert found.order == ""


@pytest.mark.parametrize(
    "text", ["wash the knife like the fork", "put the knife where the fork is", "is the knife the same as the fork?"]
)
def test_own_deed_or_question_is_no_likeness(text: str) -> None:
    assert liken(text) is None
