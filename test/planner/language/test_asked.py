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
        ("can you tell me what is inside the top drawer?", "contents", "top drawer"),
        ("tell me what the box has in it", "contents", "box"),
        ("what does the box contain?", "contents", "box"),
        ("my laptop is in which room?", "place", "laptop"),
        ("go and see where the mug has got to", "place", "mug"),
        ("look whether there is a mug in the sink", "exists", "mug"),
        ("let me know if the stove is off", "off", "stove"),
        ("you see my phone anywhere?", "place", "phone"),
        ("are the blinds up or down?", "open", "blind"),
        ("was the safe left open?", "open", "safe"),
        ("which lamps are on?", "on", "lamp"),
        ("which of the drawers is open?", "open", "drawer"),
        ("which shelf are the plates on?", "place", "plate"),
    ],
)
def test_question_is_read(text: str, asked: str, thing: str) -> None:
    found = command(text)
    assert (found.kind, found.verb, found.targets[0].head) == (GoalKind.TELL, asked, thing)


@pytest.mark.parametrize("text", ["could you close the window?", "will you bring me the mug?", "can I have a fork?"])
def test_polite_order_is_no_question(text: str) -> None:
    assert GoalKind.TELL not in {one.kind for one in read(text).commands}
    assert read(text).commands


def test_you_see_opens_an_order_as_well() -> None:
    assert [one.kind for one in read("You see that mug, put it in the sink").commands] == [GoalKind.PLACE]


def test_if_alone_sets_a_condition() -> None:
    assert GoalKind.TELL not in {one.kind for one in read("if the stove is off, bring me the pan").commands}
