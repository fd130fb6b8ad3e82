"""Questions about the home are read as what memory is to tell."""

import pytest
from grammar import command, read

from memory_node.domain.goal_labels import GoalKind


@pytest.mark.parametrize(
    ("text", "asked", "thing"),
    [
        ("where are my keys?", "place", "key"),
        ("Have you seen my phone?", "place", "phone"),
        ("do you know where the mug is", "place", "mug"),
        ("is the apple in the fridge?", "place", "apple"),
        ("did I leave my phone on the sofa?", "place", "phone"),
        ("what is in the fridge?", "contents", "fridge"),
        ("is there anything in the box?", "contents", "box"),
        ("how many plates do we have?", "count", "plate"),
        ("are there any apples in the bowl?", "exists", "apple"),
        ("is the stove off?", "off", "stove"),
        ("did I leave the lamp on?", "on", "lamp"),
        ("have I switched off the stove?", "off", "stove"),
        ("is the mug on the desk clean?", "clean", "mug"),
        ("check whether the fridge is open", "open", "fridge"),
        ("did you close the window?", "closed", "window"),
    ],
)
def test_question_is_read(text: str, asked: str, thing: str) -> None:
    found = command(text)
    assert (found.kind, found.verb, found.targets[0].head) == (GoalKind.TELL, asked, thing)


@pytest.mark.parametrize("text", ["could you close the window?", "will you bring me the mug?", "can I have a fork?"])
def test_polite_order_is_no_question(text: str) -> None:
    assert GoalKind.TELL not in {one.kind for one in read(text).commands}
    assert read(text).commands
