"""Going on is what somebody asks for whose other words ask for nothing."""

from __future__ import annotations

import pytest

from memory_node.questions.going_on import asks_what_is_left, going_on


@pytest.mark.parametrize(
    "words",
    [
        "carry on",
        "right, the door is seen to, carry on",
        "The power is back, finish what you were doing.",
        "OK, keep going please",
        "pick up where you left off",
    ],
)
def test_going_on_is_asked_for_behind_what_asks_for_nothing(words: str) -> None:
    wish = going_on(words)
    assert wish is not None
    assert wish.left == ""


@pytest.mark.parametrize(
    "words",
    [
        "grab the pen, carry on",
        "I need the cup, carry on",
        "if the stove is off, go on",
        "finish the cake",
        "carry on to me",
    ],
)
def test_another_wish_in_the_words_is_not_passed_over(words: str) -> None:
    assert going_on(words) is None


@pytest.mark.parametrize(("words", "asks"), [
    ("Which of that is still to be done?", True), ("What is left?", True),
    ("What's left in the fridge?", False), ("What is open?", False),
])  # fmt: skip
def test_what_is_left_to_do_is_told_from_what_is_left_of_things(words: str, asks: bool) -> None:
    assert asks_what_is_left(words) is asks
